#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

struct FlipOptions {
  std::vector<int64_t> axes;  // axes to reverse; negative ones count from the last
};
void describe(FlipOptions& options, ir::FieldVisitor& visitor);

// x with the order of some axes reversed. x: any type, at most 8 dimensions; y: the shape of x.
// Throws Error for axes that do not exist or are named twice.
Value flip(Value x, const FlipOptions& options);

}  // namespace thimble
