// Outputs of batches, one after another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ir/element.h"
#include "ir/graph.h"

namespace thimble::train {

// Collects the elements of an output, which need not fill whole bytes.
class Collected {
 public:
  void add(DType dtype, std::span<const std::byte> bytes, int64_t elements) {
    const auto old = static_cast<size_t>(bits_ / 8);
    const int64_t bits_left = bits_ % 8;
    const int64_t added = elements * bits(dtype);
    bytes_.resize(static_cast<size_t>((bits_ + added + 7) / 8));
    if (bits_left == 0) {
      std::copy_n(bytes.begin(), bytes_.size() - old, bytes_.begin() + static_cast<int64_t>(old));
    } else {
      copy_packed(dtype, bytes, elements);
    }
    bits_ += added;
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void copy_packed(DType dtype, std::span<const std::byte> from, int64_t elements) {
    const int type = static_cast<int>(dtype);
    const int64_t first = bits_ / bits(dtype);
    for (int64_t i = 0; i < elements; ++i) {
      element_store_int(bytes_.data(), type, first + i, element_load_int(from.data(), type, i));
    }
  }

  std::vector<std::byte> bytes_;
  int64_t bits_ = 0;
};

}  // namespace thimble::train
