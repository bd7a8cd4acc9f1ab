// The weights of a model, in the layout of this interface and in that of its graph.
#pragma once

#include <thimble/array.h>
#include <thimble/graph.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace thimble {
class Trainer;
}

namespace thimble::ml_train {

using Dims = std::array<int64_t, 4>;  // batch, channel, height, width
using Axes = std::array<int, 4>;

struct Weight {
  std::string name;           // "conv2d0:filter", in the graph too
  Dims dims{1, 1, 1, 1};      // as users see it, row-major
  Axes order{0, 1, 2, 3};     // axes of dims in the order in which the graph has them
  int64_t swapped_gates = 0;  // blocks of this width, of which the graph has the first two swapped
  Shape shape;                // in the graph: as many elements
  std::string initializer;    // "zeros", "xavier_uniform", ...
  bool trainable = true;
  bool is_statistic = false;  // never trained
  double decay = 0.0;         // added to the gradient, times the weight
  double l2 = 0.0;            // factor of half the sum of squares in the loss
  // Whether users may have a pointer to the values, which then never move.
  bool exposed = false;
  // Empty while a trainer holds them, unless they are exposed.
  std::vector<float> values;

  [[nodiscard]] int64_t elements() const { return shape.elements(); }
  [[nodiscard]] std::vector<float> in_graph(std::span<const float> from) const;
  [[nodiscard]] std::vector<float> from_graph(std::span<const float> from) const;
};

// Owns the weights of a model. Each lives as long as the store.
class WeightStore {
 public:
  // Fills `values` by the initializer unless a weight of that name is there, which is returned.
  // Throws std::invalid_argument where that has other dimensions, or another layout in the graph.
  Weight& add(Weight weight);
  [[nodiscard]] Weight* find(const std::string& name);
  [[nodiscard]] const std::vector<std::unique_ptr<Weight>>& all() const { return weights_; }

  // The values as they are now, wherever they are. state: of an optimizer's state such as
  // "exp_avg", empty for the weight itself.
  [[nodiscard]] std::vector<float> read(const Weight& weight, const std::string& state = {}) const;
  void write(Weight& weight, std::span<const float> values, const std::string& state = {});
  // An optimizer's state as the trainer has it, in its layout: the values or, where these are codes
  // of 8 bits, the codes and their scales.
  [[nodiscard]] std::vector<Array> read_state(const Weight& weight, const std::string& state) const;
  void write_state(const Weight& weight, const std::string& state,
                   const std::vector<Array>& arrays);
  // Grows with every write: what was computed of the weights before is out of date.
  [[nodiscard]] int64_t writes() const { return writes_; }
  // Memory that users may read and write between calls.
  float* expose(Weight& weight);

  // All values as arrays of the graph's layout.
  [[nodiscard]] std::map<std::string, Array> in_graph() const;
  // From now on a trainer, whose graph began with in_graph, holds the values. Null: none does; all
  // values are taken back.
  void hold_in(Trainer* trainer);
  // Values that users may have written go to the trainer; trained ones go where users see them.
  void push();
  void pull();

 private:
  std::vector<std::unique_ptr<Weight>> weights_;
  std::map<std::string, Weight*> by_name_;
  std::mt19937 random_{0};
  Trainer* trainer_ = nullptr;
  int64_t writes_ = 0;
};

}  // namespace thimble::ml_train
