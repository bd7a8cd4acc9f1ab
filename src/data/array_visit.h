// Going through the elements of an array, whatever their type and wherever they lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "data/array.h"
#include "ir/element.h"

namespace thimble::data {

// Numbers of 16 bits as files store them.
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

// The element as a number of the language.
template <class T>
[[nodiscard]] T number_of(T value) {
  return value;
}
[[nodiscard]] inline float number_of(Float16 value) { return element_f16_to_float(value.bits); }
[[nodiscard]] inline float number_of(BFloat16 value) { return element_bf16_to_float(value.bits); }

template <class T>
[[nodiscard]] T load_element(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Calls visitor with a zero of the element's C++ type.
template <class Visitor>
auto visit_element(Element element, Visitor&& visitor) {
  switch (element) {
    case Element::i8:
      return visitor(int8_t{});
    case Element::u16:
      return visitor(uint16_t{});
    case Element::i16:
      return visitor(int16_t{});
    case Element::u32:
      return visitor(uint32_t{});
    case Element::i32:
      return visitor(int32_t{});
    case Element::u64:
      return visitor(uint64_t{});
    case Element::i64:
      return visitor(int64_t{});
    case Element::f16:
      return visitor(Float16{});
    case Element::bf16:
      return visitor(BFloat16{});
    case Element::f32:
      return visitor(float{});
    case Element::f64:
      return visitor(double{});
    case Element::u8:
    case Element::boolean:
      break;
  }
  return visitor(uint8_t{});
}

// Calls visitor(first, elements, count) for parts of the elements begin .. end - 1, of type T, in
// order: for all at once where they lie in memory as they are.
template <class T, class Visitor>
void for_parts(const StoredArray& array, int64_t begin, int64_t end, Visitor&& visitor) {
  constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kReadBytes = 4096;  // read at once from a file
  const std::byte* const memory = array.storage->data();
  if (memory != nullptr && (kWidth == 1 || !array.swapped)) {
    visitor(begin, memory + array.offset + begin * kWidth, end - begin);
    return;
  }
  std::byte part[kReadBytes];
  for (int64_t at = begin; at < end;) {
    const int64_t count = std::min<int64_t>(end - at, kReadBytes / kWidth);
    array.storage->read(array.offset + at * kWidth, {part, static_cast<size_t>(count * kWidth)});
    if (array.swapped) {
      for (int64_t i = 0; i < count; ++i) {
        std::reverse(part + i * kWidth, part + (i + 1) * kWidth);
      }
    }
    visitor(at, static_cast<const std::byte*>(part), count);
    at += count;
  }
}

}  // namespace thimble::data
