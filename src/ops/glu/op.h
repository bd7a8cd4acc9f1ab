#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct GluOptions {
  int64_t axis = -1;  // the axis that is split into halves; negative counts from the last
};
void describe(GluOptions& options, ir::FieldVisitor& visitor);

// Gated linear units of a and b, the halves of x along an axis. x: f32, the axis of even size; y: x
// with half of the axis. Training keeps x. Source: Shazeer, "GLU variants improve transformer",
// 2020. Errors: Error if the axis does not exist or has an odd size.

// y = a * sigmoid(b), as torch.nn.functional.glu. Source: Dauphin et al. 2017.
Value glu(Value x, const GluOptions& options = {});
// y = a * sigmoid(a) * b: the first half is the gate.
Value swiglu(Value x, const GluOptions& options = {});
// y = a * Phi(a) * b, Phi the normal distribution function: the first half is the gate.
Value geglu(Value x, const GluOptions& options = {});

}  // namespace thimble
