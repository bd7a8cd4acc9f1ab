#include <thimble/ops/leaky_relu.h>

#include "ops/common/unary.h"
#include "ops/leaky_relu/attrs.h"

#define THIMBLE_REF "ops/leaky_relu/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct LeakyRelu : UnaryKernels<&f32::leaky_relu_ref, &f64::leaky_relu_ref,
                                &f32::leaky_relu_grad_ref, &f64::leaky_relu_grad_ref> {
  static constexpr const char* name = "leaky_relu";
  static constexpr const char* grad_name = "leaky_relu_grad";
  static constexpr const char* doc =
      "Leaky rectified linear unit: y = x for x > 0, else slope * x.";
  static constexpr const char* example = "auto y = leaky_relu(x);";
  static constexpr Reads reads = Reads::input;
  using Attributes = LeakyReluAttrs;
  static unary_dims params(const Attributes& attrs) {
    return {.a = static_cast<float>(attrs.slope)};
  }
};

}  // namespace
}  // namespace ops

Value leaky_relu(Value x, const LeakyReluAttrs& attrs) {
  return ops::Unary<ops::LeakyRelu>::apply(x, attrs);
}

}  // namespace thimble

THIMBLE_OP_FOLDER(leaky_relu) { return Unary<LeakyRelu>::folder(); }
