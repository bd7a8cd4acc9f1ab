// Sizes of tensors that kernels can count.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "ir/op_context.h"

namespace thimble::ir {

// Kernels count elements in int.
inline constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

// Dimensions of a tensor; many ops take fewer.
inline constexpr int kMostRank = 16;

// a * b for numbers that are not negative, kMostProduct where that is more.
inline constexpr int64_t kMostProduct = int64_t{1} << 59;  // bytes of so many do not overflow
[[nodiscard]] constexpr int64_t bounded_product(int64_t a, int64_t b) {
  return b != 0 && a >= kMostProduct / b ? kMostProduct : a * b;
}

// The elements of a shape without negative sizes, kMostProduct where they are more.
[[nodiscard]] int64_t bounded_elements(const Shape& shape);

// Throws Error naming `where` if a dimension is negative or there are more than kMostRank of them
// or kMostElements elements. While the batch is open, it counts as 1.
void check_size(const std::string& where, const TensorType& type, bool is_open);

}  // namespace thimble::ir
