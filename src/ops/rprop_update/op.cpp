#include <thimble/ops/rprop_update.h>

#include "ops/families/kernel/ref.h"
#include "ops/families/update/update.h"
#include "ops/rprop_update/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP rprop_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::rprop_update_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void rprop_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                       const int32_t* step, const float* prev, const float* sizes,
                       const rprop_dims* d, parallel::ThreadPool& pool);

namespace {

struct RpropRule {
  static constexpr const char* name = "rprop_update";
  static constexpr const char* optimizer = "rprop";
  static constexpr const char* doc =
      "Rprop, in place: where grad * prev is above 0, step_size *= eta_plus; where it is below, "
      "step_size *= eta_minus and grad = 0; within [step_size_min, step_size_max]; "
      "param -= step_size * sign(grad); prev = grad. step_size is lr in step 1. Equal to "
      "torch.optim.Rprop.";
  using Settings = Rprop;
  static void check(const Rprop& s, const SettingChecks& checks) {
    checks.not_negative(
        {{"lr", s.lr}, {"step_size_min", s.step_size_min}, {"step_size_max", s.step_size_max}});
    checks.require(s.eta_minus > 0.0 && s.eta_minus < 1.0, "eta_minus must be above 0 and below 1",
                   s.eta_minus);
    checks.require(s.eta_plus > 1.0 && std::isfinite(s.eta_plus), "eta_plus must be above 1",
                   s.eta_plus);
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {{"prev", "the shape of param: the last gradient"},
                                          {"step_size", "the shape of param"}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const Rprop& /*s*/, const Shape& param) {
    return like_param(param, {"prev", "step_size"});
  }
  static rprop_dims params(const Rprop& s, const Shape& /*param*/) {
    rprop_dims d{};
    d.maximize = s.maximize ? 1 : 0;
    d.eta_minus = s.eta_minus;
    d.eta_plus = s.eta_plus;
    d.smallest = s.step_size_min;
    d.largest = s.step_size_max;
    return d;
  }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::rprop_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::rprop_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&rprop_update_simd>();
};

}  // namespace
}  // namespace thimble::ops::rprop_update_impl

THIMBLE_OPTIMIZER_FOLDER(rprop_update) { return Update<RpropRule>::folder(); }

namespace thimble {

void describe(Rprop& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "first size of every step, without a schedule; a step takes its input");
  v.field("eta_minus", a.eta_minus, "factor of a size where the gradient has turned");
  v.field("eta_plus", a.eta_plus, "factor of a size where it has not");
  v.field("step_size_min", a.step_size_min, "smallest size of a step");
  v.field("step_size_max", a.step_size_max, "largest size of a step");
  v.field("maximize", a.maximize, "go up instead of down");
}

Rprop::operator Optimizer() const {
  return ops::Update<ops::rprop_update_impl::RpropRule>::optimizer(*this);
}

}  // namespace thimble
