// Common contents of model files and checkpoints: the graph in their metadata, and its constants.
#pragma once

#include <thimble/array.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/safetensors/safetensors.h"
#include "ir/graph.h"

namespace thimble::io {

inline constexpr const char* kFormatKey = "format";
inline constexpr const char* kModelFormat = "thimble-model-1";
inline constexpr const char* kGraphKey = "graph";

// A graph as files hold it.
struct ModelParts {
  std::string graph;                                     // as JSON
  std::vector<std::pair<std::string, Array>> constants;  // by name
  std::vector<std::shared_ptr<const void>> owners;       // of constants that are views
};
[[nodiscard]] ModelParts parts_of(const ir::Graph& graph);
void add_model(const ModelParts& model, Metadata& metadata, std::vector<TensorView>& tensors);

// Adds the graph to the metadata and its constants to the tensors, which must not outlive it.
void add_model(const ir::Graph& graph, Metadata& metadata, std::vector<TensorView>& tensors);

// The graph of a file with its constants, verified; parameters and states have no values. Throws
// Error naming file and field, also where the file holds no graph.
[[nodiscard]] ir::Graph read_model(const Safetensors& file);

}  // namespace thimble::io
