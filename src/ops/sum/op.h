#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

// The axes to reduce.
struct ReduceOptions {
  std::vector<int64_t> axes;  // none: all; negative ones count from the last
  bool keepdims = false;      // keep them with size 1
};
void describe(ReduceOptions& options, ir::FieldVisitor& visitor);

// The sum over axes. x: at most 8 dimensions, of floating or integer types or booleans, which are
// counted. Sums of integers of less than 32 bits are i32, those of u32 i64. A sum of nothing is 0.
// Throws Error for axes that do not exist.
Value sum(Value x, const ReduceOptions& options = {});

}  // namespace thimble
