#include <thimble/ops/sin.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP sin
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(sin)

namespace thimble::ops::sin_impl {
namespace {

constexpr UnaryInfo kSin{
    .name = "sin",
    .grad_name = "sin_grad",
    .doc = "The sine: y = sin(x).",
    .example = "auto y = sin(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(sin),
    .torch = "sin",
    .domain = {.low = -5, .high = 5},
};

}  // namespace
}  // namespace thimble::ops::sin_impl

THIMBLE_OP_FOLDER(sin) { return Unary<kSin>::folder(); }

namespace thimble {

Value sin(Value x) { return ops::Unary<ops::sin_impl::kSin>::apply(x); }

}  // namespace thimble
