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
  int weighted = 0;  // layers with weights on int8
};

// ranges: of the outline's observed values, by value.
[[nodiscard]] Converted convert(const ir::Graph& graph, const Outline& outline,
                                const std::map<int, Range>& ranges,
                                const QuantizeModelOptions& options);

// The integers of weights, and what they stand for: one scale for each output channel, zero points
// of 0. bias: numbers that must fit into int32 beside them, or none. axis: of the channels.
struct QuantizedWeights {
  std::vector<int8_t> weight;
  std::vector<float> scales;
  std::vector<int32_t> bias;
};
[[nodiscard]] QuantizedWeights quantized_weights(const std::vector<float>& weight,
                                                 const Shape& shape, int axis,
                                                 const std::vector<float>& bias, float input_scale);

}  // namespace thimble::quantizing
