// Tiled updates: nodes that compute a gradient and use it up some rows at a time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::ir {

// The input of every optimizer's rule that is the gradient.
inline constexpr int kGradientInput = 1;

// The types of the inputs that a node's op reads, null where one is left out. Of a tiled update
// the gradient's type stands for the gradient, which is the parameter's.
[[nodiscard]] std::vector<const TensorType*> input_types(const Graph& graph, const Node& node);

// Of a tiled update: the values that the gradient is computed from.
[[nodiscard]] std::span<const int> gradient_inputs(const Node& node);
[[nodiscard]] std::vector<const TensorType*> gradient_input_types(const Graph& graph,
                                                                  const Node& node);

// The op, or "tiled" and the op: what a list of steps calls a node.
[[nodiscard]] std::string step_name(const Node& node);

// Whether a rule with these settings looks at single elements of gradients and states of the
// parameter's type, so that it can be applied to some rows alone.
[[nodiscard]] bool is_elementwise_update(const OpDef& update, const Attrs& settings,
                                         const TensorType& param);

// The error of a tiled update; empty: it has none, or the node is no tiled update.
[[nodiscard]] std::string tiling_error(const Graph& graph, const Node& node);

}  // namespace thimble::ir
