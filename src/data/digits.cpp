#include <thimble/error.h>

#include <fmt/format.h>

#include "data/array.h"
#include "data/balanced_label.h"
#include "data/digit_pen.h"

namespace thimble::data {
namespace {

constexpr uint64_t kLabelStream = 3;
constexpr uint64_t kPenStream = 4;

}  // namespace

Dataset digits(int64_t count, uint64_t seed, Split split) {
  constexpr int64_t kPixels = kDigitSize * kDigitSize;
  if (count < 1 || count > INT64_MAX / kPixels) {
    throw Error("digits", fmt::format("count is {}; it must be at least 1", count));
  }
  std::vector<uint8_t> images(static_cast<size_t>(count * kPixels));
  std::vector<uint8_t> labels(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const int digit = balanced_label(kLabelStream, seed, split, i);
    labels[static_cast<size_t>(i)] = static_cast<uint8_t>(digit);
    draw_digit(digit, Random(key_of(kPenStream, seed, split, i)),
               std::span<uint8_t, kPixels>(images.data() + i * kPixels, kPixels));
  }
  return labelled_dataset("digits", make_array(std::move(images), {count, 28, 28, 1}), "image",
                          "digits", make_array(std::move(labels), {count}), "digit");
}

}  // namespace thimble::data
