// Gradients of int8 activations that are stored as int8, with one scale for the tensor.
#pragma once

#include "ir/graph.h"
#include "ir/op_def.h"

namespace thimble::ops {

// The op that stores a gradient in 8 bits; ir::GradientRule::stored_error of it are those that
// read what is stored.
[[nodiscard]] const OpDef& int8_error_of();

// Gradients that read the gradient of a quantized layer's result as int8: e and its scale, the
// factors from it to the gradients of the layer's sums, and the bits where it passes. The first and
// the last store what they compute as int8, too, and add another such gradient to it.
struct Int8ErrorGradients {
  const OpDef* input;   // {dx, dx_scale} from {e, scale, factors, weight, bits or nothing,
                        // waiting, waiting_scale or nothing}
  const OpDef* weight;  // dw from {x, e, scale, factors, bits or nothing}
  const OpDef* bias;    // dbias from {e, scale, factors, bits or nothing}
  const OpDef* scale;   // {dx, dx_scale} from {e, scale, factors, bits or nothing, waiting,
                        // waiting_scale or nothing}
};
[[nodiscard]] Int8ErrorGradients int8_error_gradients();

// The graph with these ops in the place of others that read and write the same gradients as f32,
// wherever an int8 gradient is read and, for the first and the last, the result is stored as int8.
[[nodiscard]] ir::Graph with_int8_errors(const ir::Graph& graph);

}  // namespace thimble::ops
