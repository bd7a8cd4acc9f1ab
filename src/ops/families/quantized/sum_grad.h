// Gradients of the sums of quantized layers and of their biases at once.
#pragma once

#include "ir/graph.h"
#include "ir/op_def.h"

namespace thimble::ops {

// {dsum, dbias} from {dy, factors, bits or nothing}.
[[nodiscard]] const OpDef& quantized_sum_grad();

// The graph with one op in the place of a product with a factor for each channel and the sums of
// its channels, and of grad_by_bits before them where nothing else reads that, if the graph has
// masks of quantized layers. Bits are the same.
[[nodiscard]] ir::Graph with_sum_gradients(const ir::Graph& graph);

}  // namespace thimble::ops
