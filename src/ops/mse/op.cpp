#include <thimble/ops/mse.h>

#include "ops/mse/attrs.h"
#include "ops/mse/simd.h"

#define THIMBLE_REF "ops/mse/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

struct Mse {
  static constexpr const char* name = "mse";
  static constexpr const char* grad_name = "mse_grad";
  static constexpr const char* doc = "Mean squared error: reduce of (x - t)^2.";
  static constexpr const char* example = "auto loss = mse(prediction, target);";
  static constexpr const char* x = "prediction";
  static constexpr const char* t = "target";
  static constexpr bool symmetric = true;
  using Options = LossOptions;
  static double a(const Options&) { return 0.0; }
  static void check(const ir::InferContext&, const Options&) {}
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::mse_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::mse_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&mse_simd>();
  static constexpr ir::KernelFn grad_ref = ir::kernel_fn<&f32::mse_grad_ref>();
  static constexpr ir::KernelFn grad_ref64 = ir::kernel_fn<&f64::mse_grad_ref>();
  static constexpr ir::KernelFn grad_fast = ir::kernel_fn<&mse_grad_simd>();
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(mse) { return ElementLoss<Mse>::folder(); }

namespace thimble {
Value mse(Value prediction, Value target, const LossOptions& options) {
  return ops::ElementLoss<ops::Mse>::apply(prediction, target, options);
}
}  // namespace thimble
