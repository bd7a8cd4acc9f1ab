#include <thimble/ops/huber.h>

#include <cmath>

#include "ops/huber/attrs.h"
#include "ops/huber/simd.h"

#define THIMBLE_REF "ops/huber/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

struct Huber {
  static constexpr const char* name = "huber";
  static constexpr const char* grad_name = "huber_grad";
  static constexpr const char* doc =
      "Huber loss: reduce of (x - t)^2 / 2 where |x - t| <= delta, else delta (|x - t| - delta / "
      "2).";
  static constexpr const char* example = "auto loss = huber(prediction, target, {.delta = 0.5});";
  static constexpr const char* x = "prediction";
  static constexpr const char* t = "target";
  static constexpr bool symmetric = true;
  using Options = HuberOptions;
  static double a(const Options& options) { return options.delta; }
  static void check(const ir::InferContext& c, const Options& options) {
    c.require(options.delta > 0.0 && std::isfinite(options.delta),
              "delta must be positive and finite");
  }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::huber_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::huber_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&huber_simd>();
  static constexpr ir::KernelFn grad_ref = ir::kernel_fn<&f32::huber_grad_ref>();
  static constexpr ir::KernelFn grad_ref64 = ir::kernel_fn<&f64::huber_grad_ref>();
  static constexpr ir::KernelFn grad_fast = ir::kernel_fn<&huber_grad_simd>();
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(huber) { return ElementLoss<Huber>::folder(); }

namespace thimble {
Value huber(Value prediction, Value target, const HuberOptions& options) {
  return ops::ElementLoss<ops::Huber>::apply(prediction, target, options);
}
}  // namespace thimble
