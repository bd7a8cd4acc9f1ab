#include <fmt/format.h>
#include <thimble/error.h>

#include "io/safetensors/safetensors.h"
#include "ir/element.h"

namespace thimble::io {

DType file_dtype(DType dtype) { return dtype == DType::i4 ? DType::i8 : dtype; }

int64_t file_bytes(DType dtype, const Shape& shape) {
  return is_packed(dtype) ? shape.elements() : size_bytes(dtype, shape);
}

std::vector<std::byte> unpacked(DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
  if (!is_packed(dtype)) return {bytes.begin(), bytes.end()};
  std::vector<std::byte> all(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t value =
        element_load_int(bytes.data(), static_cast<int>(dtype), static_cast<std::ptrdiff_t>(i));
    all[i] = static_cast<std::byte>(static_cast<uint8_t>(value));
  }
  return all;
}

std::vector<std::byte> packed(const std::string& where, DType dtype, const Shape& shape,
                              std::span<const std::byte> bytes) {
  if (!is_packed(dtype)) return {bytes.begin(), bytes.end()};
  std::vector<std::byte> all(static_cast<size_t>(size_bytes(dtype, shape)));
  const int64_t low = dtype == DType::i4 ? -8 : 0;
  const int64_t high = dtype == DType::i4 ? 7 : 1;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto value = static_cast<int8_t>(bytes[i]);
    if (value < low || value > high) {
      throw Error(where, fmt::format("element {} is {}, no number of {}, which takes {} to {}", i,
                                     value, to_string(dtype), low, high));
    }
    element_store_int(all.data(), static_cast<int>(dtype), static_cast<std::ptrdiff_t>(i), value);
  }
  return all;
}

}  // namespace thimble::io
