#include <thimble/ops/adagrad_update.h>

#include "ops/adagrad_update/dims.h"
#include "ops/families/update/row_update.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP adagrad_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::adagrad_update_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void adagrad_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                         const int32_t* step, const float* sum, const adagrad_dims* d,
                         parallel::ThreadPool& pool);

namespace {

struct AdagradRule {
  static constexpr const char* name = "adagrad_update";
  static constexpr const char* optimizer = "adagrad";
  static constexpr const char* doc =
      "Adagrad, in place: g = grad + weight_decay * param; sum += g^2; "
      "param -= lr / (1 + (step - 1) * lr_decay) * g / (sqrt(sum) + epsilon). Equal to "
      "torch.optim.Adagrad.";
  using Settings = Adagrad;
  static void check(const Adagrad& s, const SettingChecks& checks) {
    checks.not_negative({{"lr", s.lr},
                         {"lr_decay", s.lr_decay},
                         {"weight_decay", s.weight_decay},
                         {"initial_accumulator_value", s.initial_accumulator_value},
                         {"epsilon", s.epsilon}});
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {{"sum", "the shape of param"}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const Adagrad& s, const Shape& param) {
    return {{"sum", {DType::f32, param}, s.initial_accumulator_value}};
  }
  static adagrad_dims params(const Adagrad& s, const Shape& /*param*/) {
    adagrad_dims d{};
    d.maximize = s.maximize ? 1 : 0;
    d.lr_decay = s.lr_decay;
    d.epsilon = s.epsilon;
    d.weight_decay = s.weight_decay;
    return d;
  }
  static constexpr const char* rows_name = "adagrad_rows_update";
  static constexpr const char* rows_doc =
      "adagrad_update of the rows that have a gradient: the same, because the others would not "
      "change.";
  static const char* reaches_all_rows(const Adagrad& s) {
    return s.weight_decay != 0.0 ? "weight_decay" : "";
  }
  static const OpDef& by_rows() { return RowUpdate<AdagradRule>::op(); }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::adagrad_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::adagrad_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&adagrad_update_simd>();
};

}  // namespace
}  // namespace thimble::ops::adagrad_update_impl

THIMBLE_OPTIMIZER_FOLDER(adagrad_update) { return Update<AdagradRule>::folder(); }

namespace thimble {

void describe(Adagrad& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("lr_decay", a.lr_decay, "the rate of step t is lr / (1 + (t - 1) * lr_decay)");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("initial_accumulator_value", a.initial_accumulator_value,
          "where the sum of squares starts");
  v.field("epsilon", a.epsilon, "added to the root of the sum of squares");
  v.field("maximize", a.maximize, "go up instead of down");
}

Adagrad::operator Optimizer() const {
  return ops::Update<ops::adagrad_update_impl::AdagradRule>::optimizer(*this);
}

}  // namespace thimble
