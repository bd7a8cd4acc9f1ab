#include <thimble/ops/rsqrt.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP rsqrt
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(rsqrt)

namespace thimble::ops::rsqrt_impl {
namespace {

constexpr UnaryInfo kRsqrt{
    .name = "rsqrt",
    .grad_name = "rsqrt_grad",
    .doc = "Reciprocal square root: y = 1 / sqrt(x).",
    .example = "auto y = rsqrt(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(rsqrt),
    .torch = "rsqrt",
    .domain = {.low = 0.1, .high = 3},
};

}  // namespace
}  // namespace thimble::ops::rsqrt_impl

THIMBLE_OP_FOLDER(rsqrt) { return Unary<kRsqrt>::folder(); }

namespace thimble {

Value rsqrt(Value x) { return ops::Unary<ops::rsqrt_impl::kRsqrt>::apply(x); }

}  // namespace thimble
