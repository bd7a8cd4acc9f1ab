// From a forward graph to one that also computes gradients, by each op's own rule.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace thimble::autodiff {

// Whether values of this type have gradients: floating-point ones, and int8 with a scale. The
// gradient of whole numbers, such as a trained bias of i32, is the derivative by the integer, f32.
[[nodiscard]] bool is_differentiable(const ir::TensorType& type);
// The type of the gradient of a value.
[[nodiscard]] DType gradient_dtype(const ir::TensorType& type);

// A source value and its gradient.
struct Gradient {
  int value;
  int gradient;  // -1: zero; of a parameter that is trained in part (TrainedPart), of this part
};

// The derivative of the target with respect to an output.
struct Cotangent {
  Value output;
  Value cotangent;  // of its shape and gradient_dtype
};

// Appends the nodes that compute the gradient of sum(output * cotangent) with respect to each
// wanted source. Values keep their numbers. Reverse mode: Griewank and Walther, "Evaluating
// Derivatives", 2008, chapter 3. Throws Error if an op on the way has no gradient.
// error_type: how the gradients of int8 activations are stored: f32, or lossily i8, with one scale
// for the tensor. The sum of several is rounded each time that one is added.
std::vector<Gradient> append_gradients(ir::Graph& graph, std::span<const Cotangent> seeds,
                                       std::span<const int> wanted, DType error_type = DType::f32);

// Sources whose gradients are those of one of several targets.
struct Target {
  Cotangent seed;
  std::vector<int> wanted;
};
// The gradients of all targets, one after another.
std::vector<Gradient> append_gradients(ir::Graph& graph, std::span<const Target> targets,
                                       DType error_type = DType::f32);

// The constant 1 of a graph: the cotangent of a value whose gradient is wanted.
[[nodiscard]] Value one(ir::Graph& graph);

// The same for the graph's loss and all trainable parameters. cotangent: 1 if left out.
std::vector<Gradient> append_loss_gradients(ir::Graph& graph, Value cotangent = {},
                                            DType error_type = DType::f32);

}  // namespace thimble::autodiff
