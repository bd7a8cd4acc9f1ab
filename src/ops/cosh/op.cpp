#include <thimble/ops/cosh.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP cosh
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(cosh)

namespace thimble::ops::cosh_impl {
namespace {

constexpr UnaryInfo kCosh{
    .name = "cosh",
    .grad_name = "cosh_grad",
    .doc = "The hyperbolic cosine: y = (exp(x) + exp(-x)) / 2.",
    .example = "auto y = cosh(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(cosh),
    .torch = "cosh",
    .domain = {.low = -3, .high = 3},
};

}  // namespace
}  // namespace thimble::ops::cosh_impl

THIMBLE_OP_FOLDER(cosh) { return Unary<kCosh>::folder(); }

namespace thimble {

Value cosh(Value x) { return ops::Unary<ops::cosh_impl::kCosh>::apply(x); }

}  // namespace thimble
