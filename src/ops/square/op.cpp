#include <thimble/ops/square.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/square/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Square : UnaryKernels<&f32::square_ref, &f64::square_ref, &f32::square_grad_ref,
                             &f64::square_grad_ref> {
  static constexpr const char* name = "square";
  static constexpr const char* grad_name = "square_grad";
  static constexpr const char* doc = "Square: y = x * x.";
  static constexpr const char* example = "auto y = square(x);";
  static constexpr Reads reads = Reads::input;
};

}  // namespace
}  // namespace ops

Value square(Value x) { return ops::Unary<ops::Square>::apply(x); }

}  // namespace thimble

THIMBLE_OP_FOLDER(square) { return Unary<Square>::folder(); }
