#include <thimble/ops/erf.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP erf
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(erf)

namespace thimble::ops::erf_impl {
namespace {

constexpr UnaryInfo kErf{
    .name = "erf",
    .grad_name = "erf_grad",
    .doc = "The error function: y = 2 / sqrt(pi) * the integral of exp(-t^2) from 0 to x.",
    .example = "auto y = erf(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(erf),
    .torch = "erf",
    .domain = {.low = -3, .high = 3},
};

}  // namespace
}  // namespace thimble::ops::erf_impl

THIMBLE_OP_FOLDER(erf) { return Unary<kErf>::folder(); }

namespace thimble {

Value erf(Value x) { return ops::Unary<ops::erf_impl::kErf>::apply(x); }

}  // namespace thimble
