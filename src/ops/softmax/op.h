#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct SoftmaxOptions {
  int64_t axis = -1;  // over which the results sum to 1; negative counts from the last
};

// y = exp(x) / sum of exp(x) over an axis, computed without overflow. x: any shape of at least one
// dimension, f32, or i8 with a scale of at least 2^-26; then y is i8 of the scale 1/256 and the
// zero point -128, with the bits of TensorFlow Lite's reference kernel. Throws Error for an axis
// that does not exist.
Value softmax(Value x, const SoftmaxOptions& options = {});

}  // namespace thimble
