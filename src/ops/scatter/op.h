#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct ScatterOptions {
  int64_t axis = -1;   // the axis that indices refer to; negative counts from the last
  double value = 0.0;  // written if there is no source
};
void describe(ScatterOptions& options, ir::FieldVisitor& visitor);

// x with elements replaced where an index says: y = x, then y[i, index[i, j, k], k] = source[i, j,
// k] for axis 1, in their order, so that of several with one place the last stays. x: f32, at most
// 8 dimensions; index: i32, as many dimensions, no larger than x but along the axis; source: f32,
// the shape of index, or none for options.value. An index that is not in [0, size) writes nothing,
// without an error. Gradients: none reaches the elements of x that are replaced; those of y at the
// indices reach the source, the same for all that share a place, as in PyTorch. Equal to
// torch.scatter. Throws Error where the shapes do not fit.
Value scatter(Value x, Value index, Value source, const ScatterOptions& options = {});

}  // namespace thimble
