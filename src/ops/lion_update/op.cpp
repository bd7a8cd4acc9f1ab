#include <thimble/ops/lion_update.h>

#include "ops/families/kernel/ref.h"
#include "ops/families/update/update.h"
#include "ops/lion_update/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP lion_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::lion_update_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void lion_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* step, const float* m_, const lion_dims* d,
                      parallel::ThreadPool& pool);

namespace {

struct LionRule {
  static constexpr const char* name = "lion_update";
  static constexpr const char* optimizer = "lion";
  static constexpr const char* doc =
      "Lion, in place: c = beta1 * m + (1 - beta1) * grad; param = (1 - lr * weight_decay) * param "
      "- "
      "lr * sign(c); m = beta2 * m + (1 - beta2) * grad.";
  using Settings = Lion;
  static void check(const Lion& s, const SettingChecks& checks) {
    checks.not_negative({{"lr", s.lr}, {"weight_decay", s.weight_decay}});
    checks.below_one({{"beta1", s.beta1}, {"beta2", s.beta2}});
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {{"exp_avg", "the shape of param"}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const Lion& /*s*/, const Shape& param) {
    return like_param(param, {"exp_avg"});
  }
  static lion_dims params(const Lion& s, const Shape& /*param*/) {
    lion_dims d{};
    d.maximize = s.maximize ? 1 : 0;
    d.beta1 = s.beta1;
    d.beta2 = s.beta2;
    d.weight_decay = s.weight_decay;
    return d;
  }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::lion_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::lion_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&lion_update_simd>();
};

}  // namespace
}  // namespace thimble::ops::lion_update_impl

THIMBLE_OPTIMIZER_FOLDER(lion_update) { return Update<LionRule>::folder(); }

namespace thimble {

void describe(Lion& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("beta1", a.beta1, "share of the moment in the direction of a step");
  v.field("beta2", a.beta2, "share of the moment that is kept");
  v.field("weight_decay", a.weight_decay, "shrinks the parameter itself");
  v.field("maximize", a.maximize, "go up instead of down");
}

Lion::operator Optimizer() const {
  return ops::Update<ops::lion_update_impl::LionRule>::optimizer(*this);
}

}  // namespace thimble
