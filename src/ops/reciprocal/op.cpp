#include <thimble/ops/reciprocal.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/reciprocal/ref.h"
#include "ops/common/both_precisions.h"

UNARY_SIMD_DECLARE(reciprocal)

namespace thimble::ops {
namespace {

constexpr UnaryInfo kReciprocal{
    .name = "reciprocal",
    .grad_name = "reciprocal_grad",
    .doc = "The reciprocal: y = 1 / x.",
    .example = "auto y = 1.0 / x;",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(reciprocal),
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(reciprocal) { return Unary<kReciprocal>::folder(); }

namespace thimble {

Value reciprocal(Value x) { return ops::Unary<ops::kReciprocal>::apply(x); }

}  // namespace thimble
