#include <thimble/ops/abs.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/abs/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Abs : UnaryKernels<&f32::abs_ref, &f64::abs_ref, &f32::abs_grad_ref, &f64::abs_grad_ref> {
  static constexpr const char* name = "abs";
  static constexpr const char* grad_name = "abs_grad";
  static constexpr const char* doc = "Absolute value: y = |x|; its gradient at 0 is 0.";
  static constexpr const char* example = "auto y = abs(x);";
  static constexpr Reads reads = Reads::input;
};

}  // namespace
}  // namespace ops

Value abs(Value x) { return ops::Unary<ops::Abs>::apply(x); }

}  // namespace thimble

THIMBLE_OP_FOLDER(abs) { return Unary<Abs>::folder(); }
