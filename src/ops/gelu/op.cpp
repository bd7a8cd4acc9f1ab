#include <thimble/ops/gelu.h>

#include "ops/common/unary.h"
#include "ops/gelu/attrs.h"

#define THIMBLE_REF "ops/gelu/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Gelu
    : UnaryKernels<&f32::gelu_ref, &f64::gelu_ref, &f32::gelu_grad_ref, &f64::gelu_grad_ref> {
  static constexpr const char* name = "gelu";
  static constexpr const char* grad_name = "gelu_grad";
  static constexpr const char* doc = "Gaussian error linear unit: y = x * Phi(x).";
  static constexpr const char* example = "auto y = gelu(x);";
  static constexpr Reads reads = Reads::input;
  using Attributes = GeluAttrs;
  static unary_dims params(const Attributes& attrs) {
    return {.a = static_cast<float>(attrs.tanh_approximation)};
  }
};

}  // namespace
}  // namespace ops

Value gelu(Value x, const GeluAttrs& attrs) { return ops::Unary<ops::Gelu>::apply(x, attrs); }

}  // namespace thimble

THIMBLE_OP_FOLDER(gelu) { return Unary<Gelu>::folder(); }
