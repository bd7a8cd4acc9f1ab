#include <thimble/ops/acos.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP acos
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(acos)

namespace thimble::ops::acos_impl {
namespace {

constexpr UnaryInfo kAcos{
    .name = "acos",
    .grad_name = "acos_grad",
    .doc = "The inverse of the cosine: y = acos(x), NaN where |x| > 1.",
    .example = "auto y = acos(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(acos),
    .torch = "acos",
    .domain = {.low = -0.9, .high = 0.9},
};

}  // namespace
}  // namespace thimble::ops::acos_impl

THIMBLE_OP_FOLDER(acos) { return Unary<kAcos>::folder(); }

namespace thimble {

Value acos(Value x) { return ops::Unary<ops::acos_impl::kAcos>::apply(x); }

}  // namespace thimble
