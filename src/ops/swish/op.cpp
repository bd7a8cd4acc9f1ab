#include <thimble/ops/swish.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP swish
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(swish)

namespace thimble::ops::swish_impl {
namespace {

constexpr UnaryInfo kSwish{
    .name = "swish",
    .grad_name = "swish_grad",
    .doc = "Swish, also called SiLU: y = x / (1 + exp(-x)).",
    .example = "auto y = swish(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(swish),
    .torch = "nn.functional.silu",
    .domain = {.low = -6, .high = 6},
};

}  // namespace
}  // namespace thimble::ops::swish_impl

THIMBLE_OP_FOLDER(swish) { return Unary<kSwish>::folder(); }

namespace thimble {

Value swish(Value x) { return ops::Unary<ops::swish_impl::kSwish>::apply(x); }

}  // namespace thimble
