#include <thimble/ops/mish.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/mish/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Mish
    : UnaryKernels<&f32::mish_ref, &f64::mish_ref, &f32::mish_grad_ref, &f64::mish_grad_ref> {
  static constexpr const char* name = "mish";
  static constexpr const char* grad_name = "mish_grad";
  static constexpr const char* doc = "Mish: y = x * tanh(log(1 + exp(x))).";
  static constexpr const char* example = "auto y = mish(x);";
  static constexpr Reads reads = Reads::input;
};

}  // namespace
}  // namespace ops

Value mish(Value x) { return ops::Unary<ops::Mish>::apply(x); }

}  // namespace thimble

THIMBLE_OP_FOLDER(mish) { return Unary<Mish>::folder(); }
