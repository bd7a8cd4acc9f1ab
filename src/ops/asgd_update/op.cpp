#include <thimble/ops/asgd_update.h>

#include "ops/asgd_update/dims.h"
#include "ops/families/kernel/ref.h"
#include "ops/families/update/update.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP asgd_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::asgd_update_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void asgd_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* step, const float* ax, const float* eta, const asgd_dims* d,
                      parallel::ThreadPool& pool);

namespace {

struct AsgdRule {
  static constexpr const char* name = "asgd_update";
  static constexpr const char* optimizer = "asgd";
  static constexpr const char* type_name = "ASGD";
  static constexpr const char* doc =
      "Averaged stochastic gradient descent, in place: g = grad + weight_decay * param; "
      "param = (1 - lambd * eta) * param - eta * g; ax += (param - ax) / max(1, step - 1 - t0); "
      "eta = lr / (1 + lambd * lr * step)^alpha for the next step, lr in the first. Equal to "
      "torch.optim.ASGD.";
  using Settings = ASGD;
  static void check(const ASGD& s, const SettingChecks& checks) {
    checks.not_negative({{"lr", s.lr}, {"weight_decay", s.weight_decay}});
    for (const auto& [name, value] : {std::pair{"lambd must be a number", s.lambd},
                                      {"alpha must be a number", s.alpha},
                                      {"t0 must be a number", s.t0}}) {
      checks.require(std::isfinite(value), name, value);
    }
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {{"ax", "the shape of param: its average"},
                                          {"eta", "one number: the rate of this step"}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const ASGD& /*s*/, const Shape& param) {
    std::vector<ir::StateSpec> specs = like_param(param, {"ax"});
    specs.push_back({"eta", {DType::f32, {}}});
    return specs;
  }
  static asgd_dims params(const ASGD& s, const Shape& /*param*/) {
    asgd_dims d{};
    d.maximize = s.maximize ? 1 : 0;
    d.lambd = s.lambd;
    d.alpha = s.alpha;
    d.t0 = s.t0;
    d.weight_decay = s.weight_decay;
    return d;
  }
  static constexpr bool elementwise = false;
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::asgd_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::asgd_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&asgd_update_simd>();
};

}  // namespace
}  // namespace thimble::ops::asgd_update_impl

THIMBLE_OPTIMIZER_FOLDER(asgd_update) { return Update<AsgdRule>::folder(); }

namespace thimble {

void describe(ASGD& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("lambd", a.lambd, "pull towards zero, times the rate");
  v.field("alpha", a.alpha, "power of the rate's decay");
  v.field("t0", a.t0, "the step after which averages begin");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("maximize", a.maximize, "go up instead of down");
}

ASGD::operator Optimizer() const {
  return ops::Update<ops::asgd_update_impl::AsgdRule>::optimizer(*this);
}

}  // namespace thimble
