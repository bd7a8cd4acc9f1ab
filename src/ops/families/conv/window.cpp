#include "ops/families/conv/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/attrs.h"
#include "ir/sizes.h"

namespace thimble::ops {
namespace {

constexpr int64_t kLargest = int64_t{1} << 20;
// Kernels add a stride and a dilation to the places of cells.
constexpr int64_t kFurthest = ir::kMostElements - 4 * kLargest;

bool in_range(int64_t value, int64_t least) { return value >= least && value <= kLargest; }

bool in_range(Pair pair) { return in_range(pair.h, 1) && in_range(pair.w, 1); }

// Padding before and after that gives ceil(size / stride) outputs; an odd zero comes after.
std::pair<int64_t, int64_t> same(int64_t size, int64_t extent, int64_t stride) {
  const int64_t places = (size + stride - 1) / stride;
  const int64_t total = std::max<int64_t>(0, (places - 1) * stride + extent - size);
  return {total / 2, total - total / 2};
}

}  // namespace

void check_window(const ir::InferContext& c, const Window& w) {
  const std::string limit = fmt::format("and at most {}", kLargest);
  c.require(in_range(w.kernel), "expected a window of at least 1 by 1 " + limit);
  c.require(in_range(w.stride), "expected a stride of at least 1 " + limit);
  c.require(in_range(w.dilation), "expected a dilation of at least 1 " + limit);
  c.require(w.padding.automatic || (in_range(w.padding.top, 0) && in_range(w.padding.bottom, 0) &&
                                    in_range(w.padding.left, 0) && in_range(w.padding.right, 0)),
            "expected padding of at least 0 " + limit + "; crop with slice");
  c.require(w.kernel.h * w.kernel.w <= ir::kMostElements,
            fmt::format("expected a window of at most {} cells, got {} by {}", ir::kMostElements,
                        w.kernel.h, w.kernel.w));
  const Pair extent = window_extent(w);
  c.require(
      extent.h <= kFurthest && extent.w <= kFurthest,
      fmt::format("a window that covers {} by {} is too large; dilate less", extent.h, extent.w));
}

void check_reach(const ir::InferContext& c, const Window& w, Pair image) {
  const auto real = [](int64_t side) {
    return side > ir::kMostElements ? ir::with_batch(side, 1) : side;  // of an open batch
  };
  const Pair extent = window_extent(w);
  const auto fits = [](int64_t side, int64_t padding, int64_t covered) {
    return side >= 0 && side <= kFurthest && side + padding <= kFurthest - covered;
  };
  // Padding::same() adds no more than the extent.
  const Padding& p = w.padding;
  c.require(fits(real(image.h), p.automatic ? extent.h : p.top + p.bottom, extent.h) &&
                fits(real(image.w), p.automatic ? extent.w : p.left + p.right, extent.w),
            fmt::format("an image of {} by {} with its padding and a window that covers {} by {} "
                        "are too large together; make them smaller",
                        image.h, image.w, extent.h, extent.w));
}

Pair window_extent(const Window& w) {
  return {w.dilation.h * (w.kernel.h - 1) + 1, w.dilation.w * (w.kernel.w - 1) + 1};
}

Padding settled_padding(const Window& w, Pair image) {
  if (!w.padding.automatic) return w.padding;
  const Pair extent = window_extent(w);
  const auto [top, bottom] = same(image.h, extent.h, w.stride.h);
  const auto [left, right] = same(image.w, extent.w, w.stride.w);
  return {top, bottom, left, right};
}

Pair window_places(const ir::InferContext& c, const Window& w, Pair image) {
  check_reach(c, w, image);
  const Pair extent = window_extent(w);
  const Padding padding = settled_padding(w, image);
  const int64_t free_h = image.h + padding.top + padding.bottom - extent.h;
  const int64_t free_w = image.w + padding.left + padding.right - extent.w;
  if (free_h < 0 || free_w < 0) {
    c.fail(
        fmt::format("a window that covers {} by {} does not fit an image of {} by {} with its "
                    "padding; pad more or make the window smaller",
                    extent.h, extent.w, image.h, image.w));
  }
  return {free_h / w.stride.h + 1, free_w / w.stride.w + 1};
}

}  // namespace thimble::ops
