#include <thimble/ops/log_sigmoid.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP log_sigmoid
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(log_sigmoid)

namespace thimble::ops::log_sigmoid_impl {
namespace {

constexpr UnaryInfo kLogSigmoid{
    .name = "log_sigmoid",
    .grad_name = "log_sigmoid_grad",
    .doc = "The logarithm of the sigmoid: y = -log(1 + exp(-x)).",
    .example = "auto y = log_sigmoid(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(log_sigmoid),
    .torch = "nn.functional.logsigmoid",
    .domain = {.low = -5, .high = 5},
};

}  // namespace
}  // namespace thimble::ops::log_sigmoid_impl

THIMBLE_OP_FOLDER(log_sigmoid) { return Unary<kLogSigmoid>::folder(); }

namespace thimble {

Value log_sigmoid(Value x) { return ops::Unary<ops::log_sigmoid_impl::kLogSigmoid>::apply(x); }

}  // namespace thimble
