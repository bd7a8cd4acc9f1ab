#include <thimble/ops/lars_update.h>

#include "ops/families/kernel/ref.h"
#include "ops/families/update/update.h"
#include "ops/lars_update/attrs.h"
#include "ops/lars_update/simd.h"

#define THIMBLE_OP lars_update
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::lars_update_impl {
namespace {

struct LARSRule {
  static constexpr const char* name = "lars_update";
  static constexpr const char* optimizer = "lars";
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

THIMBLE_OP_FOLDER(lars_update) { return Update<LARSRule>::folder(); }

namespace thimble {

LARS::operator Optimizer() const {
  return ops::Update<ops::lars_update_impl::LARSRule>::optimizer(*this);
}

}  // namespace thimble
