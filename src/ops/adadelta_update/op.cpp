#include <thimble/ops/adadelta_update.h>

#include "ops/adadelta_update/dims.h"
#include "ops/families/kernel/ref.h"
#include "ops/families/update/update.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP adadelta_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::adadelta_update_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void adadelta_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                          const int32_t* step, const float* v_, const float* acc,
                          const adadelta_dims* d, parallel::ThreadPool& pool);

namespace {

struct AdadeltaRule {
  static constexpr const char* name = "adadelta_update";
  static constexpr const char* optimizer = "adadelta";
  static constexpr const char* doc =
      "Adadelta, in place: g = grad + weight_decay * param; v = rho * v + (1 - rho) * g^2; "
      "delta = sqrt(acc + epsilon) / sqrt(v + epsilon) * g; acc = rho * acc + (1 - rho) * delta^2; "
      "param -= lr * delta. Equal to torch.optim.Adadelta.";
  using Settings = Adadelta;
  static void check(const Adadelta& s, const SettingChecks& checks) {
    checks.not_negative({{"lr", s.lr}, {"epsilon", s.epsilon}, {"weight_decay", s.weight_decay}});
    checks.require(s.rho >= 0.0 && s.rho <= 1.0, "rho must be from 0 to 1", s.rho);
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {{"square_avg", "the shape of param"},
                                          {"acc_delta", "the shape of param"}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const Adadelta& /*s*/, const Shape& param) {
    return like_param(param, {"square_avg", "acc_delta"});
  }
  static adadelta_dims params(const Adadelta& s, const Shape& /*param*/) {
    adadelta_dims d{};
    d.maximize = s.maximize ? 1 : 0;
    d.rho = s.rho;
    d.epsilon = s.epsilon;
    d.weight_decay = s.weight_decay;
    return d;
  }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::adadelta_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::adadelta_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&adadelta_update_simd>();
};

}  // namespace
}  // namespace thimble::ops::adadelta_update_impl

THIMBLE_OPTIMIZER_FOLDER(adadelta_update) { return Update<AdadeltaRule>::folder(); }

namespace thimble {

void describe(Adadelta& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("rho", a.rho, "share of the averages that is kept");
  v.field("epsilon", a.epsilon, "added to the averages before their roots are taken");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("maximize", a.maximize, "go up instead of down");
}

Adadelta::operator Optimizer() const {
  return ops::Update<ops::adadelta_update_impl::AdadeltaRule>::optimizer(*this);
}

}  // namespace thimble
