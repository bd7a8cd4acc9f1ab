// Lists of sample numbers, each in as few whole bytes as the largest number needs.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "data/random.h"

namespace thimble::data {

// `count` numbers below `below`, zero at first.
class SampleNumbers {
 public:
  SampleNumbers() = default;
  SampleNumbers(int64_t count, int64_t below) {
    const auto size = static_cast<size_t>(count);
    switch (width(below)) {
      case 2:
        numbers_ = std::vector<uint16_t>(size);
        break;
      case 4:
        numbers_ = std::vector<uint32_t>(size);
        break;
      default:
        numbers_ = std::vector<uint64_t>(size);
        break;
    }
  }

  // Bytes of such a list.
  [[nodiscard]] static int64_t bytes(int64_t count, int64_t below) { return count * width(below); }

  [[nodiscard]] int64_t size() const {
    return std::visit([](const auto& list) { return static_cast<int64_t>(list.size()); }, numbers_);
  }
  [[nodiscard]] int64_t bytes() const {
    return std::visit(
        [](const auto& list) { return static_cast<int64_t>(list.size() * sizeof(list[0])); },
        numbers_);
  }
  [[nodiscard]] int64_t operator[](int64_t at) const {
    return std::visit(
        [at](const auto& list) { return static_cast<int64_t>(list[static_cast<size_t>(at)]); },
        numbers_);
  }
  void set(int64_t at, int64_t number) {
    std::visit(
        [at, number](auto& list) {
          auto& place = list[static_cast<size_t>(at)];
          place = static_cast<std::remove_reference_t<decltype(place)>>(number);
        },
        numbers_);
  }
  // 0, 1, 2 ... in random order: a function of size and random alone.
  void fill_shuffled(Random random) {
    std::visit(
        [random](auto& list) {
          for (size_t i = 0; i < list.size(); ++i) {
            list[i] = static_cast<std::remove_reference_t<decltype(list[i])>>(i);
          }
          shuffle(std::span(list), random);
        },
        numbers_);
  }

 private:
  static int64_t width(int64_t below) {
    if (below - 1 <= std::numeric_limits<uint16_t>::max()) return 2;
    return below - 1 <= std::numeric_limits<uint32_t>::max() ? 4 : 8;
  }

  std::variant<std::vector<uint16_t>, std::vector<uint32_t>, std::vector<uint64_t>> numbers_;
};

}  // namespace thimble::data
