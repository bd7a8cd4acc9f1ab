// Chains of quantized convolutions that are computed row by row, for reference kernels.
#pragma once

#include "ir/graph.h"
#include "ir/op_def.h"

namespace thimble::ops {

// The graph with runs of quantized convolutions, each result of which the next one alone reads, as
// one op that keeps only the rows between them that a window covers. Bits are the same. Where a run
// begins and ends is chosen so that the largest sum of what a node of it reads and writes is least.
// The kernel is a reference kernel; fast kernels compute convolutions one by one.
[[nodiscard]] ir::Graph convolutions_by_rows(const ir::Graph& graph);

// The op that chains consist of.
[[nodiscard]] const OpDef& quantized_convolution();

}  // namespace thimble::ops
