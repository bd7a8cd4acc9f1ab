#include "eval/recognition.h"

#include <thimble/error.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "eval/inception_score.h"

namespace thimble::eval {

std::vector<float> first_images(const data::Dataset& dataset, int64_t count) {
  std::vector<int64_t> bytes;
  for (const data::Field& field : dataset.fields()) {
    bytes.push_back(size_bytes(field.dtype, field.shape));
  }
  if (dataset.fields()[0].dtype != DType::f32) {
    throw Error(dataset.fields()[0].name, "expected images as f32");
  }
  count = std::min(count, dataset.size());
  const auto pixels = static_cast<size_t>(dataset.fields()[0].shape.elements());
  std::vector<float> images(static_cast<size_t>(count) * pixels);
  std::vector<std::vector<std::byte>> rest;
  std::vector<void*> out{nullptr};
  for (size_t f = 1; f < bytes.size(); ++f) {
    rest.emplace_back(static_cast<size_t>(bytes[f]));
    out.push_back(rest.back().data());
  }
  for (int64_t i = 0; i < count; ++i) {
    out[0] = images.data() + static_cast<size_t>(i) * pixels;
    dataset.read(i, out);
  }
  return images;
}

Neighbourhood::Neighbourhood(std::vector<float> train, std::span<const float> real, int64_t pixels)
    : train_(std::move(train)), pixels_(pixels) {
  std::vector<float> distances;
  for (size_t first = 0; first < real.size(); first += static_cast<size_t>(pixels)) {
    distances.push_back(nearest(real.subspan(first, static_cast<size_t>(pixels)), 0.0F));
  }
  std::sort(distances.begin(), distances.end());
  limit_ = distances.at(static_cast<size_t>(kNear * static_cast<double>(distances.size() - 1)));
}

bool Neighbourhood::holds(std::span<const float> image) const {
  return nearest(image, limit_) <= limit_;
}

float Neighbourhood::nearest(std::span<const float> image, float enough) const {
  constexpr size_t kPart = 64;  // pixels between checks
  const auto pixels = static_cast<size_t>(pixels_);
  float best = std::numeric_limits<float>::infinity();
  for (size_t first = 0; first < train_.size() && best > enough; first += pixels) {
    float sum = 0.0F;
    for (size_t from = 0; from < pixels && sum < best; from += kPart) {
      const size_t to = std::min(pixels, from + kPart);
      for (size_t k = from; k < to; ++k) {
        const float difference = image[k] - train_[first + k];
        sum += difference * difference;
      }
    }
    best = std::min(best, sum);
  }
  return best;
}

Recognition recognition(std::span<const float> images, std::span<const float> logits,
                        int64_t classes, const Neighbourhood& neighbourhood,
                        std::span<const int64_t> asked) {
  const std::vector<double> p = class_probabilities(logits, classes);
  const size_t count = p.size() / static_cast<size_t>(classes);
  const size_t pixels = images.size() / count;
  if (images.size() != count * pixels) throw Error("recognition", "images and logits do not fit");
  if (!asked.empty() && asked.size() != count) {
    throw Error("recognition", "expected a class asked for of every image, or of none");
  }
  std::vector<int64_t> counts(static_cast<size_t>(classes), 0);
  Recognition result;
  for (size_t i = 0; i < count; ++i) {
    const auto row = p.begin() + static_cast<std::ptrdiff_t>(i) * classes;
    const auto likeliest = std::max_element(row, row + classes);
    const int64_t kind = likeliest - row;
    ++result.images;
    if (!(*likeliest >= kSure) || (!asked.empty() && asked[i] != kind) ||
        !neighbourhood.holds(images.subspan(i * pixels, pixels))) {
      continue;
    }
    ++result.recognised;
    ++counts[static_cast<size_t>(kind)];
  }
  if (result.recognised == 0) return result;
  double entropy = 0.0;
  for (const int64_t of_class : counts) {
    const double share = static_cast<double>(of_class) / static_cast<double>(result.recognised);
    if (of_class > 0) entropy -= share * std::log(share);
  }
  result.kinds = std::exp(entropy);
  return result;
}

}  // namespace thimble::eval
