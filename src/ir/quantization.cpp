#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/canonical.h"
#include "ir/op_context.h"

namespace thimble::ir {
namespace {

// The smallest and the largest number of an integer type that can be quantized; nothing for others.
std::optional<std::pair<int64_t, int64_t>> range_of(DType dtype) {
  if (is_floating(dtype) || dtype == DType::boolean || dtype == DType::i64) return std::nullopt;
  const int width = bits(dtype);
  if (dtype == DType::u8 || dtype == DType::u32) return {{0, (int64_t{1} << width) - 1}};
  return {{-(int64_t{1} << (width - 1)), (int64_t{1} << (width - 1)) - 1}};
}

}  // namespace

Quantization canonical(Quantization q) {
  const bool are_zero = std::all_of(q.zero_points.begin(), q.zero_points.end(),
                                    [](int32_t zero) { return zero == 0; });
  if (are_zero && q.zero_points.size() == q.scales.size()) q.zero_points.clear();
  return q;
}

std::string quantization_error(const TensorType& type) {
  if (!type.quantization) return "";
  const Quantization& q = *type.quantization;
  const auto range = range_of(type.dtype);
  if (!range) {
    return fmt::format("{} cannot be quantized; take i8, u8, i4, i16, i32 or u32",
                       thimble::to_string(type.dtype));
  }
  int64_t wanted = 1;
  if (q.axis) {
    if (*q.axis < 0 || *q.axis >= type.shape.rank()) {
      return fmt::format("the axis {} of a quantization lies outside of the shape {}", *q.axis,
                         thimble::to_string(type.shape));
    }
    wanted = type.shape[*q.axis];
  }
  if (static_cast<int64_t>(q.scales.size()) != wanted) {
    return fmt::format(
        "a quantization {} takes {} scales, got {}",
        q.axis ? fmt::format("along axis {} of {}", *q.axis, thimble::to_string(type.shape))
               : std::string("of a whole tensor"),
        wanted, q.scales.size());
  }
  if (!q.zero_points.empty() && q.zero_points.size() != q.scales.size()) {
    return fmt::format("a quantization has {} scales, but {} zero points", q.scales.size(),
                       q.zero_points.size());
  }
  for (const float scale : q.scales) {
    if (!std::isfinite(scale) || !(scale > 0.0F)) {
      return fmt::format("a scale must be finite and above 0, got {}", scale);
    }
  }
  for (const int32_t zero : q.zero_points) {
    if (zero < range->first || zero > range->second) {
      return fmt::format("the zero point {} is no number of {}", zero,
                         thimble::to_string(type.dtype));
    }
  }
  return "";
}

std::string to_string(const TensorType& type) {
  std::string text = thimble::to_string(type.dtype) + thimble::to_string(type.shape);
  if (!type.quantization) return text;
  const Quantization& q = *type.quantization;
  if (q.axis) return text + fmt::format(" ({} scales along axis {})", q.scales.size(), *q.axis);
  const int32_t zero = q.zero_points.empty() ? 0 : q.zero_points[0];
  return text +
         fmt::format(" (scale {}, zero point {})", q.scales.empty() ? 0.0F : q.scales[0], zero);
}

}  // namespace thimble::ir
