#include <thimble/ops/quantized_tanh.h>
#include <thimble/ops/tanh.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP tanh
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(tanh)

namespace thimble::ops::tanh_impl {
namespace {

std::vector<Value> quantized(const ir::QuantizeContext& c) {
  return {quantized_tanh(
      c.input(0),
      {.scale = c.scale, .zero_point = c.zero_point, .requantization = c.requantization})};
}

constexpr UnaryInfo kTanh{
    .name = "tanh",
    .grad_name = "tanh_grad",
    .doc = "Hyperbolic tangent: y = tanh(x).",
    .example = "auto y = tanh(x);",
    .reads = Reads::output,
    .kernels = UNARY_KERNELS(tanh),
    .torch = "tanh",
    .domain = {.low = -3, .high = 3},
    .quantized = quantized,
};

}  // namespace
}  // namespace thimble::ops::tanh_impl

THIMBLE_OP_FOLDER(tanh) { return Unary<kTanh>::folder(); }

namespace thimble {

Value tanh(Value x) { return ops::Unary<ops::tanh_impl::kTanh>::apply(x); }

}  // namespace thimble
