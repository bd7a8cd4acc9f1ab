#include <thimble/ops/pow.h>

#include "ops/common/unary.h"
#include "ops/pow/attrs.h"

#define THIMBLE_REF "ops/pow/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble {

namespace ops {
namespace {

struct Pow : UnaryKernels<&f32::pow_ref, &f64::pow_ref, &f32::pow_grad_ref, &f64::pow_grad_ref> {
  static constexpr const char* name = "pow";
  static constexpr const char* grad_name = "pow_grad";
  static constexpr const char* doc = "Power: y = x^exponent.";
  static constexpr const char* example = "auto y = pow(x);";
  static constexpr Reads reads = Reads::input;
  using Attributes = PowAttrs;
  static unary_dims params(const Attributes& attrs) {
    return {.a = static_cast<float>(attrs.exponent)};
  }
};

}  // namespace
}  // namespace ops

Value pow(Value x, const PowAttrs& attrs) { return ops::Unary<ops::Pow>::apply(x, attrs); }

}  // namespace thimble

THIMBLE_OP_FOLDER(pow) { return Unary<Pow>::folder(); }
