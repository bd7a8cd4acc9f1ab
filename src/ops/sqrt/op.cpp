#include <thimble/ops/sqrt.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/sqrt/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Sqrt
    : UnaryKernels<&f32::sqrt_ref, &f64::sqrt_ref, &f32::sqrt_grad_ref, &f64::sqrt_grad_ref> {
  static constexpr const char* name = "sqrt";
  static constexpr const char* grad_name = "sqrt_grad";
  static constexpr const char* doc = "Square root: y = sqrt(x).";
  static constexpr const char* example = "auto y = sqrt(x);";
  static constexpr Reads reads = Reads::output;
};

}  // namespace
}  // namespace ops

Value sqrt(Value x) { return ops::Unary<ops::Sqrt>::apply(x); }

}  // namespace thimble

THIMBLE_OP_FOLDER(sqrt) { return Unary<Sqrt>::folder(); }
