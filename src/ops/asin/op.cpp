#include <thimble/ops/asin.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP asin
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(asin)

namespace thimble::ops::asin_impl {
namespace {

constexpr UnaryInfo kAsin{
    .name = "asin",
    .grad_name = "asin_grad",
    .doc = "The inverse of the sine: y = asin(x), NaN where |x| > 1.",
    .example = "auto y = asin(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(asin),
    .torch = "asin",
    .domain = {.low = -0.9, .high = 0.9},
};

}  // namespace
}  // namespace thimble::ops::asin_impl

THIMBLE_OP_FOLDER(asin) { return Unary<kAsin>::folder(); }

namespace thimble {

Value asin(Value x) { return ops::Unary<ops::asin_impl::kAsin>::apply(x); }

}  // namespace thimble
