#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct NormalizeOptions {
  int64_t axis = -1;       // the axis of the vectors; negative counts from the last
  double p = 2.0;          // of the norm, above 0; 2: the length of a vector
  double epsilon = 1e-12;  // lower bound of the divisor
};
void describe(NormalizeOptions& options, ir::FieldVisitor& visitor);

// Vectors of length 1: y = x / max(||x||_p, epsilon) with norms along an axis. x: any shape of at
// least one dimension, f32; y: the shape of x. Training keeps y and one number a vector.
// Equal to torch.nn.functional.normalize. Errors: Error for an axis that does not exist or p of 0
// and less.
Value normalize(Value x, const NormalizeOptions& options = {});

}  // namespace thimble
