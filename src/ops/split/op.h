#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

struct SplitOptions {
  int64_t axis = -1;           // negative counts from the last
  std::vector<int64_t> sizes;  // sizes of the parts; their sum is the size of the axis
};
void describe(SplitOptions& options, ir::FieldVisitor& visitor);

// Splits x along an axis; the inverse of concat. x: any type; 1 to 32 parts. Throws Error if the
// sizes do not add up to the size of the axis.
std::vector<Value> split(Value x, const SplitOptions& options);

// Splits into equal parts. Throws Error if their number does not divide the axis.
std::vector<Value> split(Value x, int64_t parts, int64_t axis = -1);

}  // namespace thimble
