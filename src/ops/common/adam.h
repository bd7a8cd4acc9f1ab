// What Adam and AdamW share: they differ in the place of the weight decay alone.
#pragma once

#include "ops/common/adam_simd.h"
#include "ops/common/ref.h"
#include "ops/common/update.h"

namespace thimble::ops {

namespace f32 {
using real = float;
#include "ops/common/adam_ref.h"
}  // namespace f32
namespace f64 {
using real = double;
#include "ops/common/adam_ref.h"
}  // namespace f64

// A base for the types that Update takes. S: the settings; T: the type itself, with
// bool decoupled(const S&).
template <class S, class T>
struct AdamFamily {
  using Settings = S;
  static void check(const S& s, const SettingChecks& checks) {
    checks.not_negative({{"lr", s.lr}, {"epsilon", s.epsilon}, {"weight_decay", s.weight_decay}});
    checks.below_one({{"beta1", s.beta1}, {"beta2", s.beta2}});
  }
  static std::span<const ir::ArgDoc> state_docs() {
    static constexpr ir::ArgDoc docs[] = {
        {"exp_avg", "the shape of param"},
        {"exp_avg_sq", "the shape of param"},
        {"max_exp_avg_sq", "the shape of param, where amsgrad is set", true}};
    return docs;
  }
  static std::vector<ir::StateSpec> states(const S& s, const Shape& param) {
    std::vector<ir::StateSpec> specs = like_param(param, {"exp_avg", "exp_avg_sq"});
    if (s.amsgrad) specs.push_back({"max_exp_avg_sq", {DType::f32, param}});
    return specs;
  }
  static adam_dims params(const S& options, const Shape&) {
    adam_dims d{};
    d.decoupled = T::decoupled(options) ? 1 : 0;
    d.maximize = options.maximize ? 1 : 0;
    d.beta1 = options.beta1;
    d.beta2 = options.beta2;
    d.epsilon = options.epsilon;
    d.weight_decay = options.weight_decay;
    return d;
  }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::adam_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::adam_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&adam_simd>();
};

}  // namespace thimble::ops
