#include <thimble/ops/square.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/square/ref.h"
#include "ops/common/both_precisions.h"

UNARY_SIMD_DECLARE(square)

namespace thimble::ops {
namespace {

constexpr UnaryInfo kSquare{
    .name = "square",
    .grad_name = "square_grad",
    .doc = "Square: y = x * x.",
    .example = "auto y = square(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(square),
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(square) { return Unary<kSquare>::folder(); }

namespace thimble {

Value square(Value x) { return ops::Unary<ops::kSquare>::apply(x); }

}  // namespace thimble
