#include <thimble/ops/exp2.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP exp2
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(exp2)

namespace thimble::ops::exp2_impl {
namespace {

constexpr UnaryInfo kExp2{
    .name = "exp2",
    .grad_name = "exp2_grad",
    .doc = "The power of two: y = 2^x.",
    .example = "auto y = exp2(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(exp2),
    .torch = "exp2",
    .domain = {.low = -3, .high = 3},
};

}  // namespace
}  // namespace thimble::ops::exp2_impl

THIMBLE_OP_FOLDER(exp2) { return Unary<kExp2>::folder(); }

namespace thimble {

Value exp2(Value x) { return ops::Unary<ops::exp2_impl::kExp2>::apply(x); }

}  // namespace thimble
