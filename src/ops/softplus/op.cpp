#include <thimble/ops/softplus.h>

#include "ops/common/unary.h"
#include "ops/softplus/attrs.h"

#define THIMBLE_REF "ops/softplus/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Softplus : UnaryKernels<&f32::softplus_ref, &f64::softplus_ref, &f32::softplus_grad_ref,
                               &f64::softplus_grad_ref> {
  static constexpr const char* name = "softplus";
  static constexpr const char* grad_name = "softplus_grad";
  static constexpr const char* doc =
      "Smooth rectified linear unit: y = log(1 + exp(beta * x)) / beta.";
  static constexpr const char* example = "auto y = softplus(x);";
  static constexpr Reads reads = Reads::input;
  using Attributes = SoftplusAttrs;
  static unary_dims params(const Attributes& attrs) {
    return {.a = static_cast<float>(attrs.beta), .b = static_cast<float>(attrs.threshold)};
  }
};

}  // namespace
}  // namespace ops

Value softplus(Value x, const SoftplusAttrs& attrs) {
  return ops::Unary<ops::Softplus>::apply(x, attrs);
}

}  // namespace thimble

THIMBLE_OP_FOLDER(softplus) { return Unary<Softplus>::folder(); }
