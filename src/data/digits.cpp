#include <thimble/error.h>

#include <fmt/format.h>

#include <array>

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
  Spill images;
  std::vector<uint8_t> labels(static_cast<size_t>(count));
  std::array<uint8_t, kPixels> image;
  for (int64_t i = 0; i < count; ++i) {
    const int digit = balanced_label(kLabelStream, seed, split, i);
    labels[static_cast<size_t>(i)] = static_cast<uint8_t>(digit);
    image.fill(0);
    draw_digit(digit, Random(key_of(kPenStream, seed, split, i)), image);
    images.append(std::as_bytes(std::span(image)));
  }
  return labelled_dataset("digits", {Element::u8, {count, 28, 28, 1}, images.finish()}, "image",
                          "digits", make_array(std::move(labels), {count}), "digit");
}

}  // namespace thimble::data
