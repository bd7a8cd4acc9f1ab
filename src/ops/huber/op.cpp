#include <thimble/ops/huber.h>

#include <cmath>

#include "ops/families/loss/loss.h"

#define THIMBLE_OP huber
#include "ops/families/builder/both_precisions.h"

LOSS_SIMD_DECLARE(huber)

namespace thimble::ops::huber_impl {
namespace {

struct Huber : PlainLoss {
  LOSS_KERNELS(huber);
  static constexpr const char* doc =
      "Huber loss: reduce of (x - t)^2 / 2 where |x - t| <= delta, else delta (|x - t| - delta / "
      "2).";
  static constexpr const char* example = "auto loss = huber(prediction, target, {.delta = 0.5});";
  using Options = HuberOptions;
  static double a(const Options& options) { return options.delta; }
  static void check(const ir::InferContext& c, const Options& options) {
    c.require(options.delta > 0.0 && std::isfinite(options.delta),
              "delta must be positive and finite");
  }
};

}  // namespace
}  // namespace thimble::ops::huber_impl

THIMBLE_OP_FOLDER(huber) { return ElementLoss<Huber>::folder(); }

namespace thimble {

void describe(HuberOptions& a, ir::FieldVisitor& v) {
  v.field("delta", a.delta, "where the parabola becomes a straight line");
  v.field("reduction", a.reduction, "how the terms become one number");
}
Value huber(Value prediction, Value target, const HuberOptions& options) {
  return ops::ElementLoss<ops::huber_impl::Huber>::apply(prediction, target, options);
}
}  // namespace thimble
