// The model layer by layer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::ir {

struct LayerSummary {
  std::string name;
  std::string type;
  Shape output;
  int64_t parameters = 0;  // trainable parameters, counted at the first layer that uses them
  int64_t frozen_parameters = 0;
  std::vector<std::string> inputs;  // names of the layers it reads
};

struct ParameterSummary {
  std::string name;
  std::string layer;  // the first that reads it; empty: none does
  DType dtype = DType::f32;
  Shape shape;
  bool trained = false;
  int64_t bytes = 0;
};

// Inputs and labels first, then the layers in order of construction.
[[nodiscard]] std::vector<LayerSummary> summarize(const Graph& graph);

// In order of construction.
[[nodiscard]] std::vector<ParameterSummary> summarize_parameters(const Graph& graph);

}  // namespace thimble::ir
