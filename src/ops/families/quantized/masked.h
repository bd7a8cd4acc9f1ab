// Quantized ops that compute their result and its bit mask at once (see inside.h).
#pragma once

#include "ir/graph.h"
#include "ir/op_def.h"

namespace thimble::ops {

// An op, the op that computes the bit mask of its result from the same inputs, and the op that
// computes both: {y, bits}.
struct MaskedOp {
  const OpDef* result;
  const OpDef* inside;
  const OpDef* both;
};
[[nodiscard]] MaskedOp quantized_conv2d_masked();
[[nodiscard]] MaskedOp quantized_dense_masked();

// The op that computes both, from the other two.
[[nodiscard]] OpDef masked_op(const MaskedOp& of, const char* name,
                              std::vector<ir::TensorType> (*infer)(const ir::InferContext&),
                              ir::KernelFn ref, ir::KernelFn ref64, ir::KernelFn fast);

// The graph with one op in the place of a result and its mask, wherever it computes both. Bits are
// the same.
[[nodiscard]] ir::Graph with_masks_at_once(const ir::Graph& graph);

// A gradient, and the op that computes it and applies a bit mask, its last input, to it at once.
struct MaskedGradient {
  const OpDef* gradient;
  const OpDef* masked;
};
[[nodiscard]] MaskedGradient quantized_input_grad_masked();

// The graph with one op in the place of a gradient and grad_by_bits, where that alone reads it and
// the convolution's window is one pixel. Bits are the same.
[[nodiscard]] ir::Graph with_masked_gradients(const ir::Graph& graph);

}  // namespace thimble::ops
