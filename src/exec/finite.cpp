#include "exec/finite.h"

#include <cmath>
#include <cstring>

#include "ir/element.h"

namespace thimble::exec {

bool is_finite(const ir::TensorType& type, std::span<const std::byte> bytes) {
  if (!is_floating(type.dtype)) return true;
  if (type.dtype == DType::f32) {
    for (size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
      float value = 0.0F;
      std::memcpy(&value, bytes.data() + at, sizeof(float));
      if (!std::isfinite(value)) return false;
    }
    return true;
  }
  const auto count = static_cast<std::ptrdiff_t>(bytes.size() * 8) / bits(type.dtype);
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const double value = element_load_real(bytes.data(), static_cast<int>(type.dtype), i);
    if (!std::isfinite(value)) return false;
  }
  return true;
}

}  // namespace thimble::exec
