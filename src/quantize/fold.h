// Folds what scales channels into the weights before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/graph.h"

namespace thimble::quantizing {

// The graph in which ops that scale and shift channels (QuantizeRule::scaling), such as batch norms
// at inference, are part of the weights and bias of the op before them, where nothing else reads
// its result, and elsewhere layers with weights of their own (QuantizeRule::scaling_layer). The
// graph must be specialized for inference and have values. Computed in double, and rounded to f32
// once.
[[nodiscard]] ir::Graph fold_scalings(const ir::Graph& graph);

// Whether a source is a parameter, state or constant with known values of f32.
[[nodiscard]] bool has_values(const ir::ValueData& data);

// The position of an element among the output channels: (element / inner) % channels.
struct ChannelWalk {
  int64_t channels = 1;
  int64_t inner = 1;
  [[nodiscard]] size_t of(int64_t element) const {
    return static_cast<size_t>(element / inner % channels);
  }
};
[[nodiscard]] ChannelWalk walk_of(const Shape& weight, int axis);

// Where a node has its weights, if their values are known.
struct KnownWeights {
  ir::WeightLayout layout;
  int weight = -1;  // values
  int bias = -1;    // -1: there is none
  // Nodes that round them to steps before the layer reads them; -1: none.
  int weight_steps = -1;
  int bias_steps = -1;
};
[[nodiscard]] std::optional<KnownWeights> known_weights(const ir::Graph& graph,
                                                        const ir::Node& node);

// A name that no source has: the name itself, or with a number behind it.
[[nodiscard]] std::string free_name(ir::Graph& graph, const std::string& name);

}  // namespace thimble::quantizing
