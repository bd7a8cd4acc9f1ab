#include <thimble/ops/swish.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/swish/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Swish
    : UnaryKernels<&f32::swish_ref, &f64::swish_ref, &f32::swish_grad_ref, &f64::swish_grad_ref> {
  static constexpr const char* name = "swish";
  static constexpr const char* grad_name = "swish_grad";
  static constexpr const char* doc = "Swish, also called SiLU: y = x / (1 + exp(-x)).";
  static constexpr const char* example = "auto y = swish(x);";
  static constexpr Reads reads = Reads::input;
};

}  // namespace
}  // namespace ops

Value swish(Value x) { return ops::Unary<ops::Swish>::apply(x); }

}  // namespace thimble

THIMBLE_OP_FOLDER(swish) { return Unary<Swish>::folder(); }
