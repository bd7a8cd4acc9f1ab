#include <thimble/ops/quantized_sigmoid.h>
#include <thimble/ops/sigmoid.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP sigmoid
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(sigmoid)

namespace thimble::ops::sigmoid_impl {
namespace {

std::vector<Value> quantized(const ir::QuantizeContext& c) {
  return {quantized_sigmoid(
      c.input(0),
      {.scale = c.scale, .zero_point = c.zero_point, .requantization = c.requantization})};
}

constexpr UnaryInfo kSigmoid{
    .name = "sigmoid",
    .grad_name = "sigmoid_grad",
    .doc = "Logistic function: y = 1 / (1 + exp(-x)).",
    .example = "auto y = sigmoid(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(sigmoid),
    .torch = "sigmoid",
    .domain = {.low = -6, .high = 6},
    .quantized = quantized,
};

}  // namespace
}  // namespace thimble::ops::sigmoid_impl

THIMBLE_OP_FOLDER(sigmoid) { return Unary<kSigmoid>::folder(); }

namespace thimble {

Value sigmoid(Value x) { return ops::Unary<ops::sigmoid_impl::kSigmoid>::apply(x); }

}  // namespace thimble
