#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <string>

namespace thimble {

struct LayerNormAttrs {
  int64_t dims = 1;       // number of last dimensions that are normalized together
  double epsilon = 1e-5;  // added to the variance
};
void describe(LayerNormAttrs& attrs, ir::FieldVisitor& visitor);

// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta with mean and (biased) variance over the
// last `dims` dimensions, for each place of the others.
// x: any shape of at least `dims` dimensions, f32; gamma, beta: the shape of those, or none;
// y: the shape of x. Training keeps x and two numbers a row.
// Source: Ba, Kiros and Hinton, "Layer normalization", 2016. Errors: Error where shapes do not fit.
Value layer_norm(Value x, Value gamma, Value beta, const LayerNormAttrs& attrs = {});

struct LayerNormOptions {
  int64_t dims = 1;
  double epsilon = 1e-5;
  bool affine = true;  // with a trained scale and shift
  bool bias = true;    // with a trained shift beside the scale
  std::string name;    // of the layer; empty: layer_norm_1, layer_norm_2, ...
};

// A layer normalisation layer. Adds the parameters <name>.weight, first 1, and <name>.bias, first
// 0, both of the shape of the last `dims` dimensions of x.
Value layer_norm(Value x, const LayerNormOptions& options = {});

}  // namespace thimble
