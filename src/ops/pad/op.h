#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

// What stands around a tensor: one value, or its own elements, mirrored without the outermost,
// the outermost repeated, or those of the other end.
enum class PadMode : uint8_t { constant, reflect, replicate, circular };

struct PadOptions {
  std::vector<int64_t> before;  // elements before each axis, one number an axis; below 0: cut off
  std::vector<int64_t> after;   // elements after each axis
  double value = 0.0;           // value of added elements, for constant
  PadMode mode = PadMode::constant;
};

// x with elements around it, or cut off. x: at most 8 dimensions, f32. The gradient of constants is
// dropped, that of repeated elements added to them. Equal to torch.nn.functional.pad. Throws Error
// unless there are two numbers an axis, and where an axis has too few elements to repeat.
Value pad(Value x, const PadOptions& options);

}  // namespace thimble
