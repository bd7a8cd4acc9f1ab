// Graph to graph. Each pass keeps the meaning and the sources' names; none names an op.
#pragma once

#include "ir/graph.h"

namespace thimble::passes {

// Replaces every op by its form in a phase: dropout vanishes at inference, for example.
[[nodiscard]] ir::Graph specialize(const ir::Graph& graph, ir::Phase phase);

// Moves work on rows that are gathered from a table of fewer rows before the gathering:
// embedding(i, table) W = embedding(i, table W). A cast of the rows moves behind the work: what is
// gathered then has the type of the result. Sums are taken in another order. The batch must be
// fixed. Run it before gradients are appended, so that they follow.
[[nodiscard]] ir::Graph gather_late(const ir::Graph& graph);

// Mixed precision: the graph in a 16-bit type, for training and inference alike. Its inputs, what
// is looked up in tables, noise and so all activations and their gradients are of that type;
// parameters and states stay f32, and so do the loss, the metrics and what leads to them from a
// label. Outputs keep their type. Before the batch is fixed and gradients are appended. f32: the
// graph as it is. Source: Micikevicius et al., "Mixed Precision Training", 2018.
[[nodiscard]] ir::Graph mixed_precision(const ir::Graph& graph, DType dtype);

// Results that are parameters or states become copies, taken where the graph computes them: what a
// step stores there afterwards does not change them. Run it before gradients and updates are
// appended.
[[nodiscard]] ir::Graph copy_stored_results(const ir::Graph& graph);

// Sparse updates: takes slices by constant indices as soon as what they are slices of is computed,
// so that a step keeps the slices for the backward pass and not the whole. Slices of parameters
// stay where they are. Run it after gradients are appended.
[[nodiscard]] ir::Graph slice_early(const ir::Graph& graph);

// Dead code: drops nodes that no result and no update needs, and sources that nothing reads.
[[nodiscard]] ir::Graph remove_dead_code(const ir::Graph& graph);

// Constant folding: computes small nodes whose inputs are all constants.
[[nodiscard]] ir::Graph fold_constants(const ir::Graph& graph);

// Fuses an activation into the matrix op whose result only the activation reads.
[[nodiscard]] ir::Graph fuse_epilogues(const ir::Graph& graph);

// The last three passes, in their order.
[[nodiscard]] ir::Graph optimize(const ir::Graph& graph);

}  // namespace thimble::passes
