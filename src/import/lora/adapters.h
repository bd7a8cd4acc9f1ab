// The adapters in a graph.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::io {
class Safetensors;
}
namespace thimble::importer::hugging_face {
class Config;
}

namespace thimble::importer::lora {

inline constexpr const char* kDown = ".lora_A.weight";
inline constexpr const char* kUp = ".lora_B.weight";
inline constexpr const char* kScale = ".lora_scale";

// A product of rows with a frozen matrix: a layer that may have an adapter.
struct Layer {
  std::string name;     // of the weight, without ".weight"
  int weight = 0;       // number of the value
  bool in_out = false;  // the weight is [in, out]
};
// The layer that a node is, if any.
[[nodiscard]] std::optional<Layer> layer_of(const ir::Graph& graph, const ir::Node& node);

// Whether the op of a layer applies no activation to its results.
[[nodiscard]] bool is_linear(const ir::Node& node);

// An adapter that a graph has.
struct Adapter {
  std::vector<int> sums;  // nodes that add what it gives to the results of the layer
  Layer layer;
  int down = -1;   // values: lora_A,
  int up = -1;     // lora_B,
  int scale = -1;  // and the constant alpha / rank
};
// By the names of their layers. Throws Error where there is none, or a part of one is missing.
[[nodiscard]] std::map<std::string, Adapter> adapters_of(const ir::Graph& graph);

// The values of a parameter. Throws Error where it has none.
[[nodiscard]] const Array& values_of(const ir::Graph& graph, int id);

// The graph with the adapters of a folder: of its configuration and its tensors. Throws Error
// naming file and field where they do not fit.
[[nodiscard]] thimble::Graph with_adapters_of(const thimble::Graph& graph,
                                              const hugging_face::Config& config,
                                              const io::Safetensors& file);

}  // namespace thimble::importer::lora
