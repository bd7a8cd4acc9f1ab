// What Adam and AdamW share: they differ in the place of the weight decay alone.
#pragma once

#include "ops/adam_update/attrs.h"
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

// A base for the types that Update takes; kDecoupled as in AdamW.
template <bool kDecoupled>
struct AdamFamily {
  using Options = AdamUpdateOptions;
  static std::span<const ir::ArgDoc> states() {
    static constexpr ir::ArgDoc docs[] = {
        {"exp_avg", "the shape of param"},
        {"exp_avg_sq", "the shape of param"},
        {"max_exp_avg_sq", "the shape of param, where amsgrad is set", true}};
    return docs;
  }
  static int state_count(const Options& options) { return options.amsgrad ? 3 : 2; }
  static adam_dims params(const Options& options) {
    adam_dims d{};
    d.decoupled = kDecoupled ? 1 : 0;
    d.maximize = options.maximize ? 1 : 0;
    d.beta1 = options.beta1;
    d.beta2 = options.beta2;
    d.epsilon = options.epsilon;
    d.weight_decay = options.weight_decay;
    d.lr_scale = options.lr_scale;
    return d;
  }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::adam_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::adam_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&adam_simd>();
};

}  // namespace thimble::ops
