// Sample data for a graph, and the values that it computes from them.
#pragma once

#include <thimble/array.h>
#include <thimble/data.h>
#include <thimble/predictor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::quantizing {

using Inputs = std::map<std::string, Array>;

// The inputs of a graph for the first samples of a data set.
class Samples {
 public:
  // Throws Error where the data have no field for an input, or one of another type or shape.
  Samples(const ir::Graph& graph, const data::Dataset& data, int64_t count, int64_t batch);

  [[nodiscard]] int64_t count() const { return count_; }
  // Calls visit for each batch, in order.
  void for_each(const std::function<void(const Inputs&, int64_t samples)>& visit) const;

 private:
  struct Field {
    size_t place;  // in the data
    std::string name;
    DType dtype;
    Shape sample;
  };
  data::Dataset data_;
  int64_t count_;
  int64_t batch_;
  std::vector<Field> fields_;
};

// Whether a value of the graph has one row per sample, so that a Probe can compute it.
[[nodiscard]] bool is_per_sample(const ir::TensorType& type);

// Computes given values of a graph.
class Probe {
 public:
  Probe(const ir::Graph& graph, const std::vector<int>& values, int64_t batch, int threads);
  // One array for each value, in their order.
  [[nodiscard]] std::vector<Array> run(const Inputs& inputs);

 private:
  size_t count_;
  Predictor predictor_;
};

}  // namespace thimble::quantizing
