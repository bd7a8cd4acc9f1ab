#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct OneHotOptions {
  int64_t classes = 0;  // must be set
};
void describe(OneHotOptions& options, ir::FieldVisitor& visitor);

// Class indices as rows of zeros with a one: y[.., c] = 1 where c = x[..]. x: any shape, i32; y:
// f32, the shape of x and then [classes]. An index that is no class gives a row of zeros, without
// an error: classes of too small a number drop labels silently. No gradient flows through it.
// Throws Error unless classes is positive.
Value one_hot(Value x, const OneHotOptions& options);

}  // namespace thimble
