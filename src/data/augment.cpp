// Random changes of images before training.
#include <thimble/data.h>
#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "data/random.h"

namespace thimble::data {
namespace {

// image: [height, width, channels].
struct Image {
  float* data;
  int64_t height;
  int64_t width;
  int64_t channels;

  [[nodiscard]] float* row(int64_t y) const { return data + y * width * channels; }
};

void mirror(const Image& image) {
  for (int64_t y = 0; y < image.height; ++y) {
    float* left = image.row(y);
    float* right = left + (image.width - 1) * image.channels;
    for (; left < right; left += image.channels, right -= image.channels) {
      std::swap_ranges(left, left + image.channels, right);
    }
  }
}

// Moves the image right by dx and down by dy pixels; zeros come in from outside.
void shift(const Image& image, int64_t dx, int64_t dy) {
  dx = std::clamp(dx, -image.width, image.width);
  const int64_t kept = (image.width - std::abs(dx)) * image.channels;
  const int64_t row_floats = image.width * image.channels;
  for (int64_t i = 0; i < image.height; ++i) {
    // Against the direction of the move, so that no row is overwritten before it is read.
    const int64_t y = dy > 0 ? image.height - 1 - i : i;
    const int64_t from_y = y - dy;
    float* const to = image.row(y);
    if (from_y < 0 || from_y >= image.height) {
      std::fill_n(to, row_floats, 0.0F);
      continue;
    }
    const float* const from = image.row(from_y) + std::max<int64_t>(-dx, 0) * image.channels;
    float* const begin = to + std::max<int64_t>(dx, 0) * image.channels;
    std::memmove(begin, from, static_cast<size_t>(kept) * sizeof(float));
    std::fill(to, begin, 0.0F);
    std::fill(begin + kept, to + row_floats, 0.0F);
  }
}

class AugmentedSource : public Source {
 public:
  AugmentedSource(Dataset dataset, const ImageAugmentation& options)
      : dataset_(std::move(dataset)), options_(options) {}
  int64_t size() const override { return dataset_.size(); }
  const std::vector<Field>& fields() const override { return dataset_.fields(); }
  void read(int64_t index, std::span<void* const> out) const override { dataset_.read(index, out); }
  int64_t bytes() const override { return dataset_.bytes(); }
  void augment(uint64_t random, std::span<void* const> fields) const override {
    dataset_.augment(random, fields);
    constexpr uint64_t kImageStream = 0x1a6e;
    Random draw(key_of(kImageStream, random));
    const auto span = static_cast<uint64_t>(2 * options_.padding + 1);
    const int64_t dx = static_cast<int64_t>(draw.below(span)) - options_.padding;
    const int64_t dy = static_cast<int64_t>(draw.below(span)) - options_.padding;
    const bool flip = options_.flip && draw.below(2) == 1;
    for (size_t f = 0; f < fields.size(); ++f) {
      const Field& field = dataset_.fields()[f];
      if (!is_image(field)) continue;
      const Image image{static_cast<float*>(fields[f]), field.shape[0], field.shape[1],
                        field.shape[2]};
      shift(image, dx, dy);
      if (flip) mirror(image);
    }
  }

  static bool is_image(const Field& field) {
    return field.dtype == DType::f32 && field.shape.rank() == 3;
  }

 private:
  Dataset dataset_;
  ImageAugmentation options_;
};

}  // namespace

Dataset augmented(const Dataset& dataset, const ImageAugmentation& options) {
  constexpr int64_t kMost = int64_t{1} << 30;
  if (options.padding < 0 || options.padding > kMost) {
    throw Error("augmented",
                fmt::format("padding is {}; it must be 0 to {}", options.padding, kMost));
  }
  const auto& fields = dataset.fields();
  if (std::none_of(fields.begin(), fields.end(), AugmentedSource::is_image)) {
    throw Error("augmented", "no field is an image [H, W, C] of f32");
  }
  return Dataset(std::make_shared<AugmentedSource>(dataset, options));
}

}  // namespace thimble::data
