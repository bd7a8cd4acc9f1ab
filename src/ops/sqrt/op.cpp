#include <thimble/ops/sqrt.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP sqrt
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(sqrt)

namespace thimble::ops::sqrt_impl {
namespace {

constexpr UnaryInfo kSqrt{
    .name = "sqrt",
    .grad_name = "sqrt_grad",
    .doc = "Square root: y = sqrt(x).",
    .example = "auto y = sqrt(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(sqrt),
    .torch = "sqrt",
    .domain = {.low = 0.1, .high = 3},
};

}  // namespace
}  // namespace thimble::ops::sqrt_impl

THIMBLE_OP_FOLDER(sqrt) { return Unary<kSqrt>::folder(); }

namespace thimble {

Value sqrt(Value x) { return ops::Unary<ops::sqrt_impl::kSqrt>::apply(x); }

}  // namespace thimble
