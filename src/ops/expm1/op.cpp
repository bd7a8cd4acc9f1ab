#include <thimble/ops/expm1.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP expm1
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(expm1)

namespace thimble::ops::expm1_impl {
namespace {

constexpr UnaryInfo kExpm1{
    .name = "expm1",
    .grad_name = "expm1_grad",
    .doc = "y = exp(x) - 1, without cancellation for small x.",
    .example = "auto y = expm1(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(expm1),
    .torch = "expm1",
    .domain = {.low = -3, .high = 3},
};

}  // namespace
}  // namespace thimble::ops::expm1_impl

THIMBLE_OP_FOLDER(expm1) { return Unary<kExpm1>::folder(); }

namespace thimble {

Value expm1(Value x) { return ops::Unary<ops::expm1_impl::kExpm1>::apply(x); }

}  // namespace thimble
