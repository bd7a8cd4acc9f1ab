#include <thimble/ops/asinh.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP asinh
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(asinh)

namespace thimble::ops::asinh_impl {
namespace {

constexpr UnaryInfo kAsinh{
    .name = "asinh",
    .grad_name = "asinh_grad",
    .doc = "The inverse of the hyperbolic sine: y = log(x + sqrt(x^2 + 1)).",
    .example = "auto y = asinh(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(asinh),
    .torch = "asinh",
    .domain = {.low = -5, .high = 5},
};

}  // namespace
}  // namespace thimble::ops::asinh_impl

THIMBLE_OP_FOLDER(asinh) { return Unary<kAsinh>::folder(); }

namespace thimble {

Value asinh(Value x) { return ops::Unary<ops::asinh_impl::kAsinh>::apply(x); }

}  // namespace thimble
