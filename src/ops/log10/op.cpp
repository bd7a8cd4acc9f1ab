#include <thimble/ops/log10.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP log10
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(log10)

namespace thimble::ops::log10_impl {
namespace {

constexpr UnaryInfo kLog10{
    .name = "log10",
    .grad_name = "log10_grad",
    .doc = "The logarithm to the base 10: y = log10(x).",
    .example = "auto y = log10(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(log10),
    .torch = "log10",
    .domain = {.low = 0.2, .high = 5},
};

}  // namespace
}  // namespace thimble::ops::log10_impl

THIMBLE_OP_FOLDER(log10) { return Unary<kLog10>::folder(); }

namespace thimble {

Value log10(Value x) { return ops::Unary<ops::log10_impl::kLog10>::apply(x); }

}  // namespace thimble
