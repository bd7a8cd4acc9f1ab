#include <thimble/ops/pow.h>

#include "ops/common/unary.h"
#include "ops/pow/attrs.h"

#define THIMBLE_REF "ops/pow/ref.h"
#include "ops/common/both_precisions.h"

UNARY_SIMD_DECLARE(pow)

namespace thimble::ops {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  return {.a = static_cast<float>(attrs.as<PowAttrs>().exponent)};
}

constexpr UnaryInfo kPow{
    .name = "pow",
    .grad_name = "pow_grad",
    .doc = "A tensor to the power of a number: y = x^exponent.",
    .example = "auto y = pow(x, 3.0);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(pow),
    .attrs = &ir::Attrs::schema_of<PowAttrs>,
    .constants = constants,
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(pow) { return Unary<kPow>::folder(); }

namespace thimble {

Value pow(Value x, const PowAttrs& attrs) {
  return ops::Unary<ops::kPow>::apply(x, ir::Attrs::of(attrs));
}

}  // namespace thimble
