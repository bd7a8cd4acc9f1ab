#include <thimble/types.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "ir/type_set.h"

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

namespace ir {

std::string to_string(TypeSet types) {
  if (types == kAnyType) return "any type";
  std::vector<std::string> names;
  const auto name = [&names, &types](TypeSet all, const char* text) {
    if ((types | all) != types) return TypeSet();
    names.emplace_back(text);
    return all;
  };
  TypeSet named = name(kFloatingTypes, "floating");
  named |= name(kIntegerTypes, "integer");
  for (const DType dtype : kDTypes) {
    if (types.has(dtype) && !named.has(dtype)) names.emplace_back(thimble::to_string(dtype));
  }
  if (names.size() < 2) return names.empty() ? "no type" : names[0];
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

}  // namespace ir

}  // namespace thimble
