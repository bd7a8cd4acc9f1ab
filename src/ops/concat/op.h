#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

struct ConcatOptions {
  int64_t axis = -1;  // negative counts from the last
};
void describe(ConcatOptions& options, ir::FieldVisitor& visitor);

// Tensors side by side along an axis. parts: 1 to 32, of one type, and of one shape but for that
// axis. Throws Error where they do not fit.
Value concat(const std::vector<Value>& parts, const ConcatOptions& options = {});

}  // namespace thimble
