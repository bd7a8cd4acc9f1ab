#include <thimble/ops/log2.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP log2
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(log2)

namespace thimble::ops::log2_impl {
namespace {

constexpr UnaryInfo kLog2{
    .name = "log2",
    .grad_name = "log2_grad",
    .doc = "The logarithm to the base 2: y = log2(x).",
    .example = "auto y = log2(x);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(log2),
    .torch = "log2",
    .domain = {.low = 0.2, .high = 5},
};

}  // namespace
}  // namespace thimble::ops::log2_impl

THIMBLE_OP_FOLDER(log2) { return Unary<kLog2>::folder(); }

namespace thimble {

Value log2(Value x) { return ops::Unary<ops::log2_impl::kLog2>::apply(x); }

}  // namespace thimble
