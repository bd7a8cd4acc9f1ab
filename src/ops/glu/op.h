#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct GluOptions {
  int64_t axis = -1;  // whose halves are a and b; negative counts from the last
};

// Gated linear units of the halves a and b of x along an axis. x: f32, the axis of even size;
// y: x with half of the axis. Training keeps x. Source: Shazeer, "GLU variants improve
// transformer", 2020. Errors: Error where the axis does not exist or is of odd size.

// y = a * sigmoid(b), as torch.nn.functional.glu. Source: Dauphin et al. 2017.
Value glu(Value x, const GluOptions& options = {});
// y = a * sigmoid(a) * b: the first half is the gate.
Value swiglu(Value x, const GluOptions& options = {});
// y = a * Phi(a) * b, Phi the normal distribution function: the first half is the gate.
Value geglu(Value x, const GluOptions& options = {});

}  // namespace thimble
