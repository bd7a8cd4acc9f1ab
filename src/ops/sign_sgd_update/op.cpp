#include <thimble/ops/sign_sgd_update.h>

#include "ops/families/kernel/ref.h"
#include "ops/families/update/update.h"
#include "ops/sign_sgd_update/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP sign_sgd_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::sign_sgd_update_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void sign_sgd_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                          const int32_t* step, const float* buffer, const sign_sgd_dims* d,
                          parallel::ThreadPool& pool);

namespace {

struct SignSGDRule {
  static constexpr const char* name = "sign_sgd_update";
  static constexpr const char* optimizer = "sign_sgd";
  static constexpr const char* type_name = "SignSGD";
  static constexpr const char* doc =
      "Descent by signs, in place: g = grad + weight_decay * param (decoupled_weight_decay: "
      "param *= 1 - lr * weight_decay instead); with momentum, b = momentum * b + (1 - momentum) * "
      "g and g = b; param -= lr * sign(g).";
  using Settings = SignSGD;
  static void check(const SignSGD& s, const SettingChecks& checks) {
    checks.not_negative({{"lr", s.lr}, {"weight_decay", s.weight_decay}});
    checks.below_one({{"momentum", s.momentum}});
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {{"momentum_buffer", "the shape of param", true}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const SignSGD& s, const Shape& param) {
    if (s.momentum == 0.0) return {};
    return like_param(param, {"momentum_buffer"});
  }
  static sign_sgd_dims params(const SignSGD& s, const Shape& /*param*/) {
    sign_sgd_dims d{};
    d.decoupled = s.decoupled_weight_decay ? 1 : 0;
    d.maximize = s.maximize ? 1 : 0;
    d.momentum = s.momentum;
    d.weight_decay = s.weight_decay;
    return d;
  }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::sign_sgd_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::sign_sgd_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&sign_sgd_update_simd>();
};

}  // namespace
}  // namespace thimble::ops::sign_sgd_update_impl

THIMBLE_OPTIMIZER_FOLDER(sign_sgd_update) { return Update<SignSGDRule>::folder(); }

namespace thimble {

void describe(SignSGD& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("momentum", a.momentum, "share of the gradients' average that is kept");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("decoupled_weight_decay", a.decoupled_weight_decay,
          "weight decay shrinks the parameter itself");
  v.field("maximize", a.maximize, "go up instead of down");
}

SignSGD::operator Optimizer() const {
  return ops::Update<ops::sign_sgd_update_impl::SignSGDRule>::optimizer(*this);
}

}  // namespace thimble
