#include <thimble/ops/atanh.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP atanh
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(atanh)

namespace thimble::ops::atanh_impl {
namespace {

constexpr UnaryInfo kAtanh{
    .name = "atanh",
    .grad_name = "atanh_grad",
    .doc =
        "The inverse of the hyperbolic tangent: y = log((1 + x) / (1 - x)) / 2, NaN where |x| > 1.",
    .example = "auto y = atanh(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(atanh),
    .torch = "atanh",
    .domain = {.low = -0.9, .high = 0.9},
};

}  // namespace
}  // namespace thimble::ops::atanh_impl

THIMBLE_OP_FOLDER(atanh) { return Unary<kAtanh>::folder(); }

namespace thimble {

Value atanh(Value x) { return ops::Unary<ops::atanh_impl::kAtanh>::apply(x); }

}  // namespace thimble
