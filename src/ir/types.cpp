#include <thimble/types.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace thimble {

const char* to_string(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::i8:
      return "i8";
    case DType::i32:
      return "i32";
    case DType::u8:
      return "u8";
    case DType::u32:
      return "u32";
    case DType::boolean:
      return "bool";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
  }
  return "?";
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) text += ", ";
    const int64_t dim = shape[axis];
    if (dim != 0 && dim % kBatch == 0) {
      text += dim == kBatch ? "N" : fmt::format("{}N", dim / kBatch);
    } else {
      text += fmt::format("{}", dim);
    }
  }
  return text + "]";
}

int64_t size_bytes(DType dtype, const Shape& shape) {
  const int64_t n = shape.elements();
  switch (dtype) {
    case DType::f32:
    case DType::i32:
    case DType::u32:
      return 4 * n;
    case DType::f16:
    case DType::bf16:
      return 2 * n;
    case DType::i8:
    case DType::u8:
      return n;
    case DType::boolean:
      return (n + 7) / 8;
  }
  return 0;
}

}  // namespace thimble
