// Attributes of ops that the library alone builds; the tests need them.
#pragma once

#include <thimble/ops/random_uniform.h>

#include "ir/attrs.h"

namespace thimble {

struct RandomUniformAttrs {
  Shape shape;
  double low = 0.0;
  double high = 1.0;
  int64_t stream = 0;
};

inline void describe(RandomUniformAttrs& a, ir::FieldVisitor& v) {
  v.field("shape", a.shape, "the shape of the result");
  v.field("low", a.low, "the smallest number");
  v.field("high", a.high, "above the largest number");
  v.field("stream", a.stream, "number of this draw within a step, for independent random numbers");
}

}  // namespace thimble
