#include <thimble/ops/adamax_update.h>

#include "ops/adamax_update/dims.h"
#include "ops/families/kernel/ref.h"
#include "ops/families/update/moments.h"
#include "ops/families/update/update.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP adamax_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::adamax_update_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void adamax_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                        const int32_t* step, const float* m_, const float* u_, const adamax_dims* d,
                        parallel::ThreadPool& pool);

namespace {

struct AdamaxRule {
  static constexpr const char* name = "adamax_update";
  static constexpr const char* optimizer = "adamax";
  static constexpr const char* doc =
      "Adamax, in place: g = grad + weight_decay * param; m += (1 - beta1) * (g - m); "
      "u = max(beta2 * u, |g| + epsilon); param -= lr / (1 - beta1^step) * m / u. Equal to "
      "torch.optim.Adamax.";
  using Settings = Adamax;
  static void check(const Adamax& s, const SettingChecks& checks) { check_moments(s, checks); }
  static constexpr const char* momentum_name = "beta1";
  static constexpr double adamax_dims::*momentum = &adamax_dims::beta1;
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {{"exp_avg", "the shape of param"},
                                          {"exp_inf", "the shape of param"}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const Adamax& /*s*/, const Shape& param) {
    return like_param(param, {"exp_avg", "exp_inf"});
  }
  static adamax_dims params(const Adamax& s, const Shape& /*param*/) {
    return moment_dims<adamax_dims>(s);
  }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::adamax_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::adamax_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&adamax_update_simd>();
};

}  // namespace
}  // namespace thimble::ops::adamax_update_impl

THIMBLE_OPTIMIZER_FOLDER(adamax_update) { return Update<AdamaxRule>::folder(); }

namespace thimble {

void describe(Adamax& a, ir::FieldVisitor& v) {
  ops::describe_moments(a, v,
                        {.beta2 = "share of the largest magnitude that is kept",
                         .epsilon = "added to the gradient's magnitude"});
  v.field("maximize", a.maximize, "go up instead of down");
}

Adamax::operator Optimizer() const {
  return ops::Update<ops::adamax_update_impl::AdamaxRule>::optimizer(*this);
}

}  // namespace thimble
