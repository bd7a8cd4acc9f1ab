#include <thimble/ops/relu6.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/relu6/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Relu6
    : UnaryKernels<&f32::relu6_ref, &f64::relu6_ref, &f32::relu6_grad_ref, &f64::relu6_grad_ref> {
  static constexpr const char* name = "relu6";
  static constexpr const char* grad_name = "relu6_grad";
  static constexpr const char* doc = "Rectified linear unit with a ceiling: y = min(max(x, 0), 6).";
  static constexpr const char* example = "auto y = relu6(x);";
  static constexpr Reads reads = Reads::output;
};

}  // namespace
}  // namespace ops

Value relu6(Value x) { return ops::Unary<ops::Relu6>::apply(x); }

}  // namespace thimble

THIMBLE_OP_FOLDER(relu6) { return Unary<Relu6>::folder(); }
