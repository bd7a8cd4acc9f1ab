#include <thimble/ops/elu.h>

#include "ops/common/unary.h"
#include "ops/elu/attrs.h"

#define THIMBLE_REF "ops/elu/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Elu : UnaryKernels<&f32::elu_ref, &f64::elu_ref, &f32::elu_grad_ref, &f64::elu_grad_ref> {
  static constexpr const char* name = "elu";
  static constexpr const char* grad_name = "elu_grad";
  static constexpr const char* doc =
      "Exponential linear unit: y = x for x > 0, else alpha * (exp(x) - 1).";
  static constexpr const char* example = "auto y = elu(x);";
  static constexpr Reads reads = Reads::input;
  using Attributes = EluAttrs;
  static unary_dims params(const Attributes& attrs) {
    return {.a = static_cast<float>(attrs.alpha)};
  }
};

}  // namespace
}  // namespace ops

Value elu(Value x, const EluAttrs& attrs) { return ops::Unary<ops::Elu>::apply(x, attrs); }

}  // namespace thimble

THIMBLE_OP_FOLDER(elu) { return Unary<Elu>::folder(); }
