#include "search/parts.h"

#include <thimble/error.h>

#include <algorithm>

#include "train/scheme_layers.h"

namespace thimble::search {

Parts parts_of(const ir::Graph& graph) {
  Parts parts;
  const std::vector<train::SchemeLayer> layers = train::layers_of(graph);
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (!layer->biases.empty()) ++parts.biases;
    if (layer->weights.empty() || layer->name.empty()) continue;
    if (parts.last.empty()) {
      parts.last = layer->name;
      parts.last_biases = parts.biases;
      continue;
    }
    Part part{.name = layer->name, .biases = parts.biases};
    if (layer->axes.size() == layer->weights.size()) {
      const auto [id, axis] = *layer->axes.begin();
      part.channels = graph.type(id).shape[axis];
      for (const auto& [other, of_other] : layer->axes) {
        part.channels = std::min(part.channels, graph.type(other).shape[of_other]);
      }
    }
    parts.layers.push_back(std::move(part));
  }
  if (parts.last.empty()) throw Error("analyze", "no layer with a name has weights to train");
  std::reverse(parts.layers.begin(), parts.layers.end());
  return parts;
}

UpdateScheme scheme_of(const Parts& parts, int64_t biases) {
  return {.bias_last = std::max(biases, parts.last_biases), .weights = {{parts.last, {}}}};
}

bool has_ratio(const Part& part, double ratio) {
  return ratio == 1.0 || static_cast<int64_t>(ratio * static_cast<double>(part.channels)) > 0;
}

}  // namespace thimble::search
