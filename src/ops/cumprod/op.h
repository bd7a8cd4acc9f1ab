#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct CumprodOptions {
  int64_t axis = -1;  // the axis of the products; negative counts from the last
};
void describe(CumprodOptions& options, ir::FieldVisitor& visitor);

// Running products along an axis: y[i] = x[0] ... x[i]. x: any shape of at least one dimension,
// f32; y: the shape of x. The gradient is also correct where elements are 0; it takes time
// quadratic in the size of the axis. Throws Error for an axis that does not exist.
Value cumprod(Value x, const CumprodOptions& options = {});

}  // namespace thimble
