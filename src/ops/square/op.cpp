#include <thimble/ops/square.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP square
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(square)

namespace thimble::ops::square_impl {
namespace {

constexpr UnaryInfo kSquare{
    .name = "square",
    .grad_name = "square_grad",
    .doc = "Square: y = x * x.",
    .example = "auto y = square(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(square),
    .torch = "square",
    .domain = {.low = -3, .high = 3},
};

}  // namespace
}  // namespace thimble::ops::square_impl

THIMBLE_OP_FOLDER(square) { return Unary<kSquare>::folder(); }

namespace thimble {

Value square(Value x) { return ops::Unary<ops::square_impl::kSquare>::apply(x); }

}  // namespace thimble
