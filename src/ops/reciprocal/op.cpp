#include <thimble/ops/reciprocal.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP reciprocal
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(reciprocal)

namespace thimble::ops::reciprocal_impl {
namespace {

constexpr ir::TestCase kCases[] = {
    {.domain = {-3.0, 3.0, 0.3}, .torch = "reciprocal(x)"},
    {.name = "infinite", .torch = "reciprocal(x)"},
};

constexpr UnaryInfo kReciprocal{
    .name = "reciprocal",
    .grad_name = "reciprocal_grad",
    .doc = "The reciprocal: y = 1 / x.",
    .example = "auto y = 1.0 / x;",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(reciprocal),
    .cases = kCases,
};

}  // namespace
}  // namespace thimble::ops::reciprocal_impl

THIMBLE_OP_FOLDER(reciprocal) { return Unary<kReciprocal>::folder(); }

namespace thimble {

Value reciprocal(Value x) { return ops::Unary<ops::reciprocal_impl::kReciprocal>::apply(x); }

}  // namespace thimble
