#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <limits>
#include <string>

namespace thimble {

struct RmsNormAttrs {
  int64_t dims = 1;  // number of last dimensions that are normalized together
  double epsilon = std::numeric_limits<float>::epsilon();  // added to the mean of squares
};
void describe(RmsNormAttrs& attrs, ir::FieldVisitor& visitor);

// y = x / sqrt(mean of x^2 + epsilon) * gamma with the mean over the last `dims` dimensions, for
// each place of the others. x: any shape of at least `dims` dimensions, f32; gamma: the shape of
// those, or none; y: the shape of x. Training keeps x and one number a row.
// Source: Zhang and Sennrich, "Root mean square layer normalization", 2019. Errors: Error where
// shapes do not fit.
Value rms_norm(Value x, Value gamma, const RmsNormAttrs& attrs = {});

struct RmsNormOptions {
  int64_t dims = 1;
  double epsilon = std::numeric_limits<float>::epsilon();
  bool affine = true;  // with a trained scale
  std::string name;    // of the layer; empty: rms_norm_1, rms_norm_2, ...
};

// A root mean square normalisation layer. Adds the parameter <name>.weight, first 1, of the shape
// of the last `dims` dimensions of x.
Value rms_norm(Value x, const RmsNormOptions& options = {});

}  // namespace thimble
