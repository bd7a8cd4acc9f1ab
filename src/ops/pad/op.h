#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

// The contents of the padding: a constant, the tensor mirrored without its outermost elements, the
// outermost elements repeated, or the elements of the other end.
enum class PadMode : uint8_t { constant, reflect, replicate, circular };

struct PadOptions {
  std::vector<int64_t> before;  // elements before each axis; below 0: cropped
  std::vector<int64_t> after;   // elements after each axis
  double value = 0.0;  // of added elements, for constant; of quantized x what they stand for
  PadMode mode = PadMode::constant;
};
void describe(PadOptions& options, ir::FieldVisitor& visitor);

// x with padding around it, or cropped. x: at most 8 dimensions, f32. The gradient of constants is
// dropped; that of repeated elements is added to the originals. Equal to torch.nn.functional.pad.
// Throws Error unless there are two numbers per axis, and if an axis has too few elements to
// repeat.
Value pad(Value x, const PadOptions& options);

}  // namespace thimble
