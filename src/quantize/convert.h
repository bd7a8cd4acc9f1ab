// From a graph of f32 to one of int8.
#pragma once

#include <thimble/quantize.h>

#include <map>
#include <vector>

#include "ir/graph.h"
#include "quantize/calibration.h"
#include "quantize/outline.h"

namespace thimble::quantizing {

struct ConvertedLayer {
  QuantizedLayer layer;  // without its error
  int from = -1;         // its result in the graph of f32
  int to = -1;           // what its int8 result stands for, f32, in the new graph
};

struct Converted {
  ir::Graph graph;  // with nodes that only ConvertedLayer::to needs
  std::vector<ConvertedLayer> layers;
  std::vector<FloatLayer> float_layers;
  int weighted = 0;                       // layers with weights on int8
  std::vector<char> on_int8;              // nodes of the graph of f32: whether they are
  std::map<int, ActivationScale> scales;  // of values of the graph of f32 with an int8 form
};

// scales: of values that may be int8, by value: of the outline's observed ones, or of those that
// nodes round to steps (fake_nodes.h), which say the scales of weights, too.
[[nodiscard]] Converted convert(const ir::Graph& graph, const Outline& outline,
                                const std::map<int, ActivationScale>& scales,
                                const QuantizeModelOptions& options);

// Throws Error, with the reasons, where no layer with weights is on int8.
void require_weighted(const Converted& made, const char* where);

}  // namespace thimble::quantizing
