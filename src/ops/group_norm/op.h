#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <string>

namespace thimble {

struct GroupNormAttrs {
  int64_t groups = 1;     // number of groups of consecutive channels; divides the channels
  double epsilon = 1e-5;  // added to the variance
};
void describe(GroupNormAttrs& attrs, ir::FieldVisitor& visitor);

// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta with the mean and (biased) variance of
// each group of channels over all positions of one image.
// x: [N, ..., C], f32; gamma, beta: [C] or none; y: the shape of x. Training keeps x and two
// numbers an image and group. Source: Wu and He, "Group normalization", 2018.
// Errors: Error where the groups do not divide C or shapes do not fit.
Value group_norm(Value x, Value gamma, Value beta, const GroupNormAttrs& attrs);

struct GroupNormOptions {
  int64_t groups = 0;  // number of groups of consecutive channels; must be set
  double epsilon = 1e-5;
  bool affine = true;  // with a trained scale and shift
  std::string name;    // of the layer; empty: group_norm_1, group_norm_2, ...
};

// A group normalisation layer. Adds the parameters <name>.weight [C], first 1, and <name>.bias [C],
// first 0.
Value group_norm(Value x, const GroupNormOptions& options);

struct GroupNormGrads {
  Value dx;      // [N, ..., C]
  Value dgamma;  // [C]
  Value dbeta;   // [C]
};

// The gradients of group_norm. dy, x: [N, ..., C]; mean, variance: [N, groups], of x; gamma: [C]
// or none.
GroupNormGrads group_norm_grad(Value dy, Value x, Value mean, Value variance, Value gamma,
                               const GroupNormAttrs& attrs);

}  // namespace thimble
