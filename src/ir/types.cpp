#include <thimble/types.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace thimble {

namespace {

struct TypeFacts {
  const char* name;
  int bits;
};

TypeFacts facts_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {"f64", 64};
    case DType::f32:
      return {"f32", 32};
    case DType::f16:
      return {"f16", 16};
    case DType::bf16:
      return {"bf16", 16};
    case DType::i64:
      return {"i64", 64};
    case DType::i32:
      return {"i32", 32};
    case DType::i16:
      return {"i16", 16};
    case DType::i8:
      return {"i8", 8};
    case DType::i4:
      return {"i4", 4};
    case DType::u32:
      return {"u32", 32};
    case DType::u8:
      return {"u8", 8};
    case DType::boolean:
      return {"bool", 1};
  }
  return {"?", 0};
}

}  // namespace

const char* to_string(DType dtype) { return facts_of(dtype).name; }

int bits(DType dtype) { return facts_of(dtype).bits; }

bool is_floating(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

bool is_packed(DType dtype) { return bits(dtype) < 8; }

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
  return is_packed(dtype) ? (n * bits(dtype) + 7) / 8 : n * (bits(dtype) / 8);
}

}  // namespace thimble
