#include <thimble/ops/mae.h>

#include "ops/mae/attrs.h"
#include "ops/mae/simd.h"

#define THIMBLE_REF "ops/mae/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

struct Mae {
  static constexpr const char* name = "mae";
  static constexpr const char* grad_name = "mae_grad";
  static constexpr const char* doc =
      "Mean absolute error: reduce of |x - t|; its derivative at 0 is 0.";
  static constexpr const char* example = "auto loss = mae(prediction, target);";
  static constexpr const char* x = "prediction";
  static constexpr const char* t = "target";
  static constexpr bool symmetric = true;
  using Options = LossOptions;
  static double a(const Options&) { return 0.0; }
  static void check(const ir::InferContext&, const Options&) {}
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::mae_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::mae_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&mae_simd>();
  static constexpr ir::KernelFn grad_ref = ir::kernel_fn<&f32::mae_grad_ref>();
  static constexpr ir::KernelFn grad_ref64 = ir::kernel_fn<&f64::mae_grad_ref>();
  static constexpr ir::KernelFn grad_fast = ir::kernel_fn<&mae_grad_simd>();
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(mae) { return ElementLoss<Mae>::folder(); }

namespace thimble {
Value mae(Value prediction, Value target, const LossOptions& options) {
  return ops::ElementLoss<ops::Mae>::apply(prediction, target, options);
}
}  // namespace thimble
