#include <thimble/ops/adafactor_update.h>

#include "ops/adafactor_update/dims.h"
#include "ops/families/kernel/ref.h"
#include "ops/families/update/update.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP adafactor_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::adafactor_update_impl {

// In simd.cpp; shapes, layout and aliasing as in ref.h. workspace:
// adafactor_update_workspace_bytes(d).
void adafactor_update_simd(float* const* out, const float* param, const float* grad,
                           const float* lr, const int32_t* step, const float* first,
                           const float* second, void* workspace, const adafactor_dims* d,
                           parallel::ThreadPool& pool);

[[nodiscard]] int64_t adafactor_update_workspace_bytes(const adafactor_dims& d);

namespace {

// The shape with its last dimension, or the one before it, reduced to 1.
Shape reduced(const Shape& shape, int axis) {
  std::vector<int64_t> dims = shape.dims();
  dims[dims.size() - static_cast<size_t>(axis)] = 1;
  return Shape(std::move(dims));
}

struct AdafactorRule {
  static constexpr const char* name = "adafactor_update";
  static constexpr const char* optimizer = "adafactor";
  static constexpr const char* doc =
      "Adafactor, in place: alpha = max(epsilon2, rms(param)) * min(lr, 1 / sqrt(step)); "
      "param *= 1 - lr * weight_decay; s = step^beta2_decay; row_var and col_var move by s towards "
      "the means of grad^2 over the last dimension and the last but one; v = row_var * col_var / "
      "max(mean(row_var), epsilon1) (a vector keeps v itself); u = grad / "
      "sqrt(max(v, epsilon1^2)); param -= alpha / max(1, rms(u) / d) * u. Equal to "
      "torch.optim.Adafactor.";
  using Settings = Adafactor;
  static void check(const Adafactor& s, const SettingChecks& checks) {
    checks.not_negative({{"lr", s.lr},
                         {"epsilon1", s.epsilon1},
                         {"epsilon2", s.epsilon2},
                         {"weight_decay", s.weight_decay}});
    checks.require(s.beta2_decay <= 0.0 && std::isfinite(s.beta2_decay),
                   "beta2_decay must not be above 0", s.beta2_decay);
    checks.require(s.d >= 1.0 && std::isfinite(s.d), "d must be at least 1", s.d);
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {
        {"row_var", "of a matrix [..., R, C]: [..., R, 1]; of a vector the variance, its shape"},
        {"col_var", "[..., 1, C]; a vector has none", true}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const Adafactor& /*s*/, const Shape& param) {
    if (param.rank() < 2) return like_param(param, {"variance"});
    return {{"row_var", {DType::f32, reduced(param, 1)}},
            {"col_var", {DType::f32, reduced(param, 2)}}};
  }
  static adafactor_dims params(const Adafactor& s, const Shape& param) {
    adafactor_dims d{};
    if (param.rank() >= 2) {
      d.rows = static_cast<int>(param[-2]);
      d.columns = static_cast<int>(param[-1]);
      d.matrices = 1;
      for (int axis = 0; axis + 2 < param.rank(); ++axis) {
        d.matrices *= static_cast<int>(param[axis]);
      }
    }
    d.maximize = s.maximize ? 1 : 0;
    d.beta2_decay = s.beta2_decay;
    d.epsilon1 = s.epsilon1;
    d.epsilon2 = s.epsilon2;
    d.d = s.d;
    d.weight_decay = s.weight_decay;
    return d;
  }
  static int64_t workspace(const ir::Params& params, int /*threads*/) {
    return adafactor_update_workspace_bytes(params.as<adafactor_dims>());
  }
  static constexpr bool elementwise = false;
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::adafactor_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::adafactor_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&adafactor_update_simd>();
};

}  // namespace
}  // namespace thimble::ops::adafactor_update_impl

THIMBLE_OPTIMIZER_FOLDER(adafactor_update) { return Update<AdafactorRule>::folder(); }

namespace thimble {

void describe(Adafactor& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("beta2_decay", a.beta2_decay, "the second moment takes step^beta2_decay of the new");
  v.field("epsilon1", a.epsilon1, "smallest root of a second moment");
  v.field("epsilon2", a.epsilon2, "smallest scale of a parameter");
  v.field("d", a.d, "largest root of the mean square of a step");
  v.field("weight_decay", a.weight_decay, "shrinks the parameter itself");
  v.field("maximize", a.maximize, "go up instead of down");
}

Adafactor::operator Optimizer() const {
  return ops::Update<ops::adafactor_update_impl::AdafactorRule>::optimizer(*this);
}

}  // namespace thimble
