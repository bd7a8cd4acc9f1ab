#include <thimble/data.h>
#include <thimble/error.h>

#include <fmt/format.h>

#include "data/balanced_label.h"
#include "data/shape_painter.h"

namespace thimble::data {
namespace {

constexpr uint64_t kShapeLabelStream = 5;
constexpr uint64_t kPaintStream = 6;
constexpr int64_t kLeastSide = 16;
constexpr int64_t kMostSide = 4096;

}  // namespace

Dataset shapes(int64_t count, uint64_t seed, Split split, int64_t side) {
  if (count < 1) {
    throw Error("shapes", fmt::format("count is {}; it must be at least 1", count));
  }
  if (side < kLeastSide || side > kMostSide) {
    throw Error("shapes",
                fmt::format("side is {}; it must be {} to {}", side, kLeastSide, kMostSide));
  }
  return generator(count, {{"image", {side, side, 3}}, {"label", {}, DType::i32, true}},
                   [=](int64_t index, std::span<void* const> out) {
                     const int label = balanced_label(kShapeLabelStream, seed, split, index);
                     *static_cast<int32_t*>(out[1]) = label;
                     paint_shape(static_cast<ShapeClass>(label),
                                 Random(key_of(kPaintStream, seed, split, index, side)),
                                 static_cast<int>(side), static_cast<float*>(out[0]));
                   });
}

}  // namespace thimble::data
