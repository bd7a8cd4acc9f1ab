// A trained model made ready for a training of one's own: with a loss, other classes, and the
// choice of what is trained.
#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <string>
#include <vector>

namespace thimble {

struct AdaptOptions {
  // The result that the loss and the metrics judge; empty: the graph's only output.
  std::string output;
  // A function of that result and a label, by its name in <thimble/ops.h>: "softmax_cross_entropy",
  // "mse". It takes the place of the graph's loss and metrics, and of labels that nothing else
  // reads. Empty: they stay. softmax_cross_entropy of a softmax judges what the softmax is of.
  std::string loss;
  // Name of the label. It holds a class for each row (i32, without the last axis of the result)
  // where the loss takes that, else numbers of the result's shape.
  std::string label = "label";
  // Functions of the same values to report beside the loss: "accuracy". Only with a loss.
  std::vector<std::string> metrics;
  // Above 0: the last layer with weights before the output gets weights for so many results, drawn
  // by seed from U(-1/sqrt(fan_in), 1/sqrt(fan_in)), whatever their type.
  int64_t classes = 0;
  uint64_t seed = 0;
  // Inputs of int8 become inputs of f32, which the model makes int8 itself.
  bool f32_inputs = false;
  // Patterns of names, as for Graph::freeze: first what is not trained, then what is.
  std::vector<std::string> freeze;
  std::vector<std::string> trainable;
};

// The model with these changes; parameters keep their names and values. What neither an output nor
// the loss needs is left out. Throws Error where the graph has no such output, the loss or a metric
// is unknown or takes no result of this shape, no layer before the output has weights, a layer
// behind it does not take the number of classes, or a pattern matches nothing.
[[nodiscard]] Graph adapt(const Graph& graph, const AdaptOptions& options);

}  // namespace thimble
