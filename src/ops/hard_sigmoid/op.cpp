#include <thimble/ops/hard_sigmoid.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP hard_sigmoid
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(hard_sigmoid)

namespace thimble::ops::hard_sigmoid_impl {
namespace {

constexpr UnaryInfo kHardSigmoid{
    .name = "hard_sigmoid",
    .grad_name = "hard_sigmoid_grad",
    .doc = "Piecewise linear sigmoid: y = min(max(x + 3, 0), 6) / 6.",
    .example = "auto y = hard_sigmoid(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(hard_sigmoid),
    .torch = "nn.functional.hardsigmoid",
    .domain = {.low = -2.9, .high = 2.9},
};

}  // namespace
}  // namespace thimble::ops::hard_sigmoid_impl

THIMBLE_OP_FOLDER(hard_sigmoid) { return Unary<kHardSigmoid>::folder(); }

namespace thimble {

Value hard_sigmoid(Value x) { return ops::Unary<ops::hard_sigmoid_impl::kHardSigmoid>::apply(x); }

}  // namespace thimble
