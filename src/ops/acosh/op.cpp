#include <thimble/ops/acosh.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP acosh
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(acosh)

namespace thimble::ops::acosh_impl {
namespace {

constexpr UnaryInfo kAcosh{
    .name = "acosh",
    .grad_name = "acosh_grad",
    .doc = "The inverse of the hyperbolic cosine: y = log(x + sqrt(x^2 - 1)), NaN where x < 1.",
    .example = "auto y = acosh(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(acosh),
    .torch = "acosh",
    .domain = {.low = 1.1, .high = 6},
};

}  // namespace
}  // namespace thimble::ops::acosh_impl

THIMBLE_OP_FOLDER(acosh) { return Unary<kAcosh>::folder(); }

namespace thimble {

Value acosh(Value x) { return ops::Unary<ops::acosh_impl::kAcosh>::apply(x); }

}  // namespace thimble
