// Attributes of ops that the library alone builds; the tests need them.
#pragma once

#include <thimble/ops/random_normal.h>

#include "ir/attrs.h"

namespace thimble {

struct RandomNormalAttrs {
  Shape shape;
  double mean = 0.0;
  double stddev = 1.0;
  int64_t stream = 0;
};

inline void describe(RandomNormalAttrs& a, ir::FieldVisitor& v) {
  v.field("shape", a.shape, "the shape of the result");
  v.field("mean", a.mean, "the mean");
  v.field("stddev", a.stddev, "the standard deviation");
  v.field("stream", a.stream, "number of this draw within a step, for independent random numbers");
}

}  // namespace thimble
