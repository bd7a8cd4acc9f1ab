#include <thimble/ops/log1p.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP log1p
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(log1p)

namespace thimble::ops::log1p_impl {
namespace {

constexpr UnaryInfo kLog1p{
    .name = "log1p",
    .grad_name = "log1p_grad",
    .doc = "y = log(1 + x), without cancellation for small x.",
    .example = "auto y = log1p(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(log1p),
    .torch = "log1p",
    .domain = {.low = -0.8, .high = 5},
};

}  // namespace
}  // namespace thimble::ops::log1p_impl

THIMBLE_OP_FOLDER(log1p) { return Unary<kLog1p>::folder(); }

namespace thimble {

Value log1p(Value x) { return ops::Unary<ops::log1p_impl::kLog1p>::apply(x); }

}  // namespace thimble
