#include <thimble/ops/sgd_update.h>

#include "ops/families/update/coded_states.h"
#include "ops/families/update/integer_update.h"
#include "ops/families/update/part_update.h"
#include "ops/families/update/row_update.h"
#include "ops/sgd_update/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP sgd_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::sgd_update_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void sgd_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                     const int32_t* step, const float* buffer, const sgd_dims* d,
                     parallel::ThreadPool& pool);

void sgd8_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* step, const uint8_t* codes, const float* scale,
                      const sgd_dims* d, parallel::ThreadPool& pool);

namespace {

struct Sgd {
  static constexpr const char* name = "sgd_update";
  static constexpr const char* optimizer = "sgd";
  static constexpr const char* type_name = "SGD";
  static constexpr const char* doc =
      "Stochastic gradient descent, in place: g = grad + weight_decay * param; with momentum, "
      "b = momentum * b + (1 - dampening) * g (b = g in step 1) and g = b, or g + momentum * b for "
      "Nesterov; param -= lr * g. Equal to torch.optim.SGD.";
  using Settings = SGD;
  static void check(const SGD& s, const SettingChecks& checks) {
    checks.not_negative({{"lr", s.lr}, {"momentum", s.momentum}, {"weight_decay", s.weight_decay}});
    checks.require(std::isfinite(s.dampening), "dampening must be a number", s.dampening);
    check_state_bits(s, checks);
    if (!s.nesterov) return;
    checks.require(s.momentum > 0.0, "nesterov needs a momentum above 0", s.momentum);
    checks.require(s.dampening == 0.0, "nesterov needs a dampening of 0", s.dampening);
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {
        {.name = "momentum_buffer",
         .doc = "the shape of param; with state_bits 8 codes, u8",
         .optional = true,
         .types = {DType::f32, DType::u8}},
        {"momentum_buffer_scale", "[blocks], with state_bits 8", true}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const SGD& s, const Shape& param) {
    if (s.momentum == 0.0) return {};
    if (const int64_t count = coded_blocks(s, param); count > 0) {
      return {{"momentum_buffer", {DType::u8, param}},
              {"momentum_buffer_scale", {DType::f32, {count}}}};
    }
    return like_param(param, {"momentum_buffer"});
  }
  static sgd_dims params(const SGD& options, const Shape& param) {
    sgd_dims d{};
    d.blocks = options.momentum == 0.0 ? 0 : static_cast<int>(coded_blocks(options, param));
    d.nesterov = options.nesterov ? 1 : 0;
    d.maximize = options.maximize ? 1 : 0;
    d.momentum = options.momentum;
    d.dampening = options.dampening;
    d.weight_decay = options.weight_decay;
    return d;
  }
  static void resize(sgd_dims& d, int n) { resize_blocks(d, n); }
  static constexpr const char* state_bits_name = "state_bits";
  static constexpr const char* momentum_name = "momentum";
  static constexpr double sgd_dims::*momentum = &sgd_dims::momentum;
  static constexpr const char* rows_name = "sgd_rows_update";
  static constexpr const char* rows_doc =
      "sgd_update of the rows that have a gradient: the same, because the others would not change.";
  static const char* reaches_all_rows(const SGD& s) {
    return s.momentum != 0.0 ? "momentum" : s.weight_decay != 0.0 ? "weight_decay" : "";
  }
  static const OpDef& by_rows() { return RowUpdate<Sgd>::op(); }
  static constexpr const char* part_name = "sgd_part_update";
  static const OpDef& by_part() { return PartUpdate<Sgd>::op(); }
  static ir::Attrs part_attrs(const ir::Attrs& settings, const ir::TrainedPart& part) {
    return PartUpdate<Sgd>::attrs(settings, part);
  }
  static constexpr const char* rounded_name = "sgd_rounded_update";
  static constexpr const char* residual_name = "sgd_residual_update";
  static ir::IntegerRule integers() { return integer_rule<Sgd>(); }
  using IntegerDims = sgd_integer_dims;
  static constexpr auto integer_part = &f32::sgd_integer_part;
  static constexpr IntegerKernels rounded{ir::kernel_fn<&f32::sgd_rounded_update_ref>(),
                                          ir::kernel_fn<&f64::sgd_rounded_update_ref>()};
  static constexpr IntegerKernels residual{ir::kernel_fn<&f32::sgd_residual_update_ref>(),
                                           ir::kernel_fn<&f64::sgd_residual_update_ref>()};
  static constexpr ir::KernelFn ref =
      whole_or_coded<sgd_dims, &f32::sgd_update_ref, &f32::sgd8_update_ref>;
  static constexpr ir::KernelFn ref64 =
      whole_or_coded<sgd_dims, &f64::sgd_update_ref, &f64::sgd8_update_ref>;
  static constexpr ir::KernelFn fast =
      whole_or_coded<sgd_dims, &sgd_update_simd, &sgd8_update_simd>;
};

}  // namespace
}  // namespace thimble::ops::sgd_update_impl

THIMBLE_OPTIMIZER_FOLDER(sgd_update) { return Update<Sgd>::folder(); }

namespace thimble {

void describe(SGD& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("momentum", a.momentum, "share of the buffer that is kept");
  v.field("dampening", a.dampening, "share of the gradient that the buffer leaves out");
  v.field("nesterov", a.nesterov, "look ahead by the momentum");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("maximize", a.maximize, "go up instead of down");
  v.field("state_bits", a.state_bits, "of the momentum: 32, or 8 in blocks that share a scale");
  v.field("min_8bit_size", a.min_8bit_size, "elements of the smallest tensor state_bits is for");
}

SGD::operator Optimizer() const { return ops::Update<ops::sgd_update_impl::Sgd>::optimizer(*this); }

}  // namespace thimble
