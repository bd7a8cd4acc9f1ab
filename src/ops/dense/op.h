#pragma once

#include <thimble/graph.h>
#include <thimble/initializer.h>

#include <optional>
#include <string>

namespace thimble {

struct DenseOptions {
  int64_t units = 0;  // number of outputs; must be set
  bool bias = true;
  Initializer weight_init = init::torch_default();
  std::optional<Initializer> bias_init;  // none: U(-1/sqrt(features), 1/sqrt(features))
  std::string name;                      // of the layer; empty: dense_1, dense_2, ...
};

// A fully connected layer: y = x W^T + b, over the last dimension.
// x: [N, ..., features], f32; y: [N, ..., units]. Adds the parameters <name>.weight
// [units, features] and <name>.bias [units]. Images are flattened first: dense(flatten(x), ...).
// Errors: Error where x has fewer than two dimensions or units is not positive.
Value dense(Value x, const DenseOptions& options);

// The same with given weights, which creates no parameters: those of another layer, or what a
// graph computes. weight: [units, features]; bias: [units], or none. Weights that several layers
// share get the sum of their gradients.
Value dense(Value x, Value weight, Value bias, const std::string& name = {});

}  // namespace thimble
