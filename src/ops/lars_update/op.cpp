#include <thimble/ops/lars_update.h>

#include "ops/families/kernel/ref.h"
#include "ops/families/update/update.h"
#include "ops/lars_update/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP lars_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::lars_update_impl {

// In simd.cpp; shapes, layout and aliasing as in ref.h. workspace: lars_update_workspace_bytes(d).
void lars_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* step, const float* buffer, void* workspace, const lars_dims* d,
                      parallel::ThreadPool& pool);

[[nodiscard]] int64_t lars_update_workspace_bytes(const lars_dims& d);

namespace {

struct LARSRule {
  static constexpr const char* name = "lars_update";
  static constexpr const char* optimizer = "lars";
  static constexpr const char* type_name = "LARS";
  static constexpr const char* doc =
      "LARS, in place: rate = lr * trust_coefficient * |param| / (|grad| + weight_decay * |param| "
      "+ "
      "epsilon), or lr where a norm is 0; g = grad + weight_decay * param; b = momentum * b + rate "
      "* "
      "g; param -= b.";
  using Settings = LARS;
  static void check(const LARS& s, const SettingChecks& checks) {
    checks.not_negative({{"lr", s.lr},
                         {"momentum", s.momentum},
                         {"weight_decay", s.weight_decay},
                         {"trust_coefficient", s.trust_coefficient},
                         {"epsilon", s.epsilon}});
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {{"momentum_buffer", "the shape of param", true}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const LARS& s, const Shape& param) {
    if (s.momentum == 0.0) return {};
    return like_param(param, {"momentum_buffer"});
  }
  static lars_dims params(const LARS& s, const Shape& /*param*/) {
    lars_dims d{};
    d.maximize = s.maximize ? 1 : 0;
    d.momentum = s.momentum;
    d.weight_decay = s.weight_decay;
    d.trust_coefficient = s.trust_coefficient;
    d.epsilon = s.epsilon;
    return d;
  }
  static int64_t workspace(const ir::Params& params, int /*threads*/) {
    return lars_update_workspace_bytes(params.as<lars_dims>());
  }
  static constexpr bool elementwise = false;
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::lars_update_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::lars_update_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&lars_update_simd>();
};

}  // namespace
}  // namespace thimble::ops::lars_update_impl

THIMBLE_OPTIMIZER_FOLDER(lars_update) { return Update<LARSRule>::folder(); }

namespace thimble {

void describe(LARS& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("momentum", a.momentum, "share of the last change that is kept");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("trust_coefficient", a.trust_coefficient,
          "how far, of the parameter's norm, a step of rate 1 goes");
  v.field("epsilon", a.epsilon, "added to the gradient's norm");
  v.field("maximize", a.maximize, "go up instead of down");
}

LARS::operator Optimizer() const {
  return ops::Update<ops::lars_update_impl::LARSRule>::optimizer(*this);
}

}  // namespace thimble
