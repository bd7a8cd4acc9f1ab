#include <thimble/ops/mish.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP mish
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(mish)

namespace thimble::ops::mish_impl {
namespace {

constexpr UnaryInfo kMish{
    .name = "mish",
    .grad_name = "mish_grad",
    .doc = "Mish: y = x * tanh(log(1 + exp(x))).",
    .example = "auto y = mish(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(mish),
    .torch = "nn.functional.mish",
    .domain = {.low = -6, .high = 6},
};

}  // namespace
}  // namespace thimble::ops::mish_impl

THIMBLE_OP_FOLDER(mish) { return Unary<kMish>::folder(); }

namespace thimble {

Value mish(Value x) { return ops::Unary<ops::mish_impl::kMish>::apply(x); }

}  // namespace thimble
