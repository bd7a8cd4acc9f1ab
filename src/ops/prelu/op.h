#pragma once

#include <thimble/graph.h>

#include <string>

namespace thimble {

// y = x where x > 0, else weight * x. x: [..., C], f32; weight: [C], one slope per channel, or [1],
// one for all; y: the shape of x. Source: He et al., "Delving deep into rectifiers", 2015. Errors:
// Error if the weight has another shape.
Value prelu(Value x, Value weight);

struct PreluOptions {
  bool per_channel = false;  // one slope per channel instead of one for all
  double slope = 0.25;       // initial value
  std::string name;          // of the layer; empty: prelu_1, prelu_2, ...
};

// A layer of prelu. x: [N, ..., C]. Adds the parameter <name>.weight, [1] or [C].
Value prelu(Value x, const PreluOptions& options = {});

}  // namespace thimble
