#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

// x with its axes in another order: axis i of the result is axis axes[i] of x; none: reversed.
// x: any type, at most 8 dimensions. Throws Error unless axes names every axis once.
Value transpose(Value x, const std::vector<int64_t>& axes = {});

}  // namespace thimble
