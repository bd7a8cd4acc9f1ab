// Images in another size.
#include <thimble/data.h>
#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

namespace thimble::data {
namespace {

// A place along an axis of the result: between two places of the original.
struct Tap {
  int64_t low;
  int64_t high;
  float share;  // of the high one
};

std::vector<Tap> taps_of(int64_t from, int64_t to) {
  std::vector<Tap> taps;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (int64_t i = 0; i < to; ++i) {
    const double at = std::max(0.0, (static_cast<double>(i) + 0.5) * scale - 0.5);
    const int64_t low = std::min(static_cast<int64_t>(at), from - 1);
    taps.push_back({low, std::min(low + 1, from - 1), static_cast<float>(at - std::floor(at))});
  }
  return taps;
}

bool is_image(const Field& field) { return field.dtype == DType::f32 && field.shape.rank() == 3; }

// The original of one sample.
struct Scratch {
  std::vector<std::vector<float>> images;
  std::vector<void*> places;
};

// Scratch memory that a thread keeps: one for each reader inside another.
thread_local std::deque<Scratch> scratches;
thread_local size_t scratches_used = 0;

struct ScratchUse {
  ScratchUse() : scratch(next()) { ++scratches_used; }
  ~ScratchUse() { --scratches_used; }
  ScratchUse(const ScratchUse&) = delete;
  ScratchUse& operator=(const ScratchUse&) = delete;
  Scratch& scratch;

 private:
  static Scratch& next() {
    if (scratches_used == scratches.size()) scratches.emplace_back();
    return scratches[scratches_used];
  }
};

class ResizedSource : public Source {
 public:
  ResizedSource(Dataset dataset, int64_t height, int64_t width)
      : dataset_(std::move(dataset)), fields_(dataset_.fields()) {
    for (Field& field : fields_) {
      axes_.push_back({});
      if (!is_image(field)) continue;
      axes_.back() = {taps_of(field.shape[0], height), taps_of(field.shape[1], width)};
      field.shape = {height, width, field.shape[2]};
    }
  }
  int64_t size() const override { return dataset_.size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  int64_t bytes() const override { return dataset_.bytes(); }
  void read(int64_t index, std::span<void* const> out) const override {
    const ScratchUse use;
    Scratch& scratch = use.scratch;
    scratch.images.resize(std::max(scratch.images.size(), out.size()));
    scratch.places.assign(out.begin(), out.end());
    for (size_t f = 0; f < out.size(); ++f) {
      if (axes_[f].rows.empty()) continue;
      scratch.images[f].resize(static_cast<size_t>(dataset_.fields()[f].shape.elements()));
      scratch.places[f] = scratch.images[f].data();
    }
    dataset_.read(index, scratch.places);
    for (size_t f = 0; f < out.size(); ++f) {
      if (axes_[f].rows.empty()) continue;
      const Shape& from = dataset_.fields()[f].shape;
      resize(scratch.images[f].data(), from[1], from[2], axes_[f], static_cast<float*>(out[f]));
    }
  }

 private:
  struct Axes {
    std::vector<Tap> rows;
    std::vector<Tap> columns;
  };

  static void resize(const float* image, int64_t width, int64_t channels, const Axes& axes,
                     float* to) {
    for (const Tap& y : axes.rows) {
      const float* const above = image + y.low * width * channels;
      const float* const below = image + y.high * width * channels;
      for (const Tap& x : axes.columns) {
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t l = x.low * channels + c;
          const int64_t r = x.high * channels + c;
          const float top = above[l] + x.share * (above[r] - above[l]);
          const float bottom = below[l] + x.share * (below[r] - below[l]);
          *to++ = top + y.share * (bottom - top);
        }
      }
    }
  }

  Dataset dataset_;
  std::vector<Field> fields_;
  std::vector<Axes> axes_;  // empty for what is no image
};

}  // namespace

Dataset resized(const Dataset& dataset, int64_t height, int64_t width) {
  constexpr int64_t kMost = 1 << 15;
  if (height < 1 || width < 1 || height > kMost || width > kMost) {
    throw Error("resized",
                fmt::format("size is {}x{}; each must be 1 to {}", height, width, kMost));
  }
  const auto& fields = dataset.fields();
  if (std::none_of(fields.begin(), fields.end(), is_image)) {
    throw Error("resized", "no field is an image [H, W, C] of f32");
  }
  return Dataset(std::make_shared<ResizedSource>(dataset, height, width));
}

}  // namespace thimble::data
