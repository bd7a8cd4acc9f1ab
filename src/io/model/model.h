// What model files and checkpoints have in common: the graph in their metadata, and its constants.
#pragma once

#include <vector>

#include "io/safetensors/safetensors.h"
#include "ir/graph.h"

namespace thimble::io {

inline constexpr const char* kFormatKey = "format";
inline constexpr const char* kModelFormat = "thimble-model-1";
inline constexpr const char* kGraphKey = "graph";

// Adds the graph to the metadata and its constants to the tensors, which must not outlive it.
void add_model(const ir::Graph& graph, Metadata& metadata, std::vector<TensorView>& tensors);

// The graph of a file with its constants, verified; parameters and states have no values. Throws
// Error naming file and field, also where the file holds no graph.
[[nodiscard]] ir::Graph read_model(const Safetensors& file);

}  // namespace thimble::io
