// Shared by max and average pooling: checks and sizes.
#pragma once

#include "ops/families/conv/conv.h"
#include "ops/families/pool/pool_dims.h"

namespace thimble::ops {

// The window of pooling attributes; a stride of 0 means the size of the kernel.
template <class T>
[[nodiscard]] Window pool_window(const T& attrs) {
  const Pair stride = attrs.stride == Pair(0) ? attrs.kernel : attrs.stride;
  Window window{attrs.kernel, stride, Pair(1), attrs.padding};
  if constexpr (requires { attrs.dilation; }) window.dilation = attrs.dilation;
  return window;
}

// Number of positions along one side in ceil_mode: the last window may extend beyond the padding,
// but must start inside the image or the padding before it, as in PyTorch.
[[nodiscard]] inline int64_t ceil_places(int64_t free, int64_t stride, int64_t size, int64_t pad) {
  if (free <= -stride) return 0;
  const int64_t places = (free + stride - 1) / stride + 1;
  return (places - 1) * stride >= size + pad ? places - 1 : places;
}

// Whether every window along one side contains a pixel of the image; dilated windows may step over
// it.
[[nodiscard]] inline bool holds_cells(int64_t places, int64_t stride, int64_t pad, int64_t dilation,
                                      int64_t window, int64_t size) {
  for (int64_t place = 0; place < places; ++place) {
    const pool_range cells =
        pool_cells(static_cast<int>(place), static_cast<int>(stride), static_cast<int>(pad),
                   static_cast<int>(dilation), static_cast<int>(window), static_cast<int>(size));
    if (cells.begin >= cells.end) return false;
  }
  return true;
}

// Number of window positions in an image of this size. Fails if a window could lie in the padding
// alone, or if it fits nowhere.
[[nodiscard]] inline Pair pool_places(const ir::InferContext& c, const Window& window, Pair image,
                                      bool ceil_mode) {
  check_window(c, window);
  check_reach(c, window, image);
  c.require(image.h >= 1 && image.w >= 1, "expected images of at least 1 by 1");
  const Padding padding = settled_padding(window, image);
  const Pair extent = window_extent(window);
  c.require(padding.top < extent.h && padding.bottom < extent.h && padding.left < extent.w &&
                padding.right < extent.w,
            "expected padding below the size of the window");
  Pair places(0);
  if (!ceil_mode) {
    places = window_places(c, window, image);
  } else {
    const int64_t free_h = image.h + padding.top + padding.bottom - extent.h;
    const int64_t free_w = image.w + padding.left + padding.right - extent.w;
    places = {ceil_places(free_h, window.stride.h, image.h, padding.top),
              ceil_places(free_w, window.stride.w, image.w, padding.left)};
  }
  c.require(places.h > 0 && places.w > 0, "the window does not fit the image with its padding");
  c.require(
      window.dilation == Pair(1) || (holds_cells(places.h, window.stride.h, padding.top,
                                                 window.dilation.h, window.kernel.h, image.h) &&
                                     holds_cells(places.w, window.stride.w, padding.left,
                                                 window.dilation.w, window.kernel.w, image.w)),
      "expected every window to hold a cell of the image; pad or dilate less");
  return places;
}

[[nodiscard]] inline pool_dims pool_sizes(const Window& window, const Shape& image,
                                          const Shape& pooled) {
  const Padding padding = settled_padding(window, image_size(image));
  pool_dims d{};
  d.n = static_cast<int>(image[0]);
  d.h = static_cast<int>(image[1]);
  d.w = static_cast<int>(image[2]);
  d.c = static_cast<int>(image[3]);
  d.p = static_cast<int>(pooled[1]);
  d.q = static_cast<int>(pooled[2]);
  d.r = static_cast<int>(window.kernel.h);
  d.s = static_cast<int>(window.kernel.w);
  d.stride_h = static_cast<int>(window.stride.h);
  d.stride_w = static_cast<int>(window.stride.w);
  d.dilation_h = static_cast<int>(window.dilation.h);
  d.dilation_w = static_cast<int>(window.dilation.w);
  d.pad_top = static_cast<int>(padding.top);
  d.pad_left = static_cast<int>(padding.left);
  d.pad_bottom = static_cast<int>(padding.bottom);
  d.pad_right = static_cast<int>(padding.right);
  return d;
}

}  // namespace thimble::ops
