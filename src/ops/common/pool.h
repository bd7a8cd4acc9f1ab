// What max and average pooling share: checks and sizes.
#pragma once

#include "ops/common/conv.h"
#include "ops/common/pool_dims.h"

namespace thimble::ops {

// The window of pooling attributes; a stride of 0 is that of the kernel.
template <class T>
[[nodiscard]] Window pool_window(const T& attrs) {
  const Pair stride = attrs.stride == Pair(0) ? attrs.kernel : attrs.stride;
  return {attrs.kernel, stride, Pair(1), attrs.padding};
}

// Places of the window over an image of this size. Fails where a window could lie in the padding
// alone or fits nowhere.
[[nodiscard]] inline Pair pool_places(const ir::InferContext& c, const Window& window, Pair image) {
  check_window(c, window);
  c.require(image.h >= 1 && image.w >= 1, "expected images of at least 1 by 1");
  const Padding padding = settled_padding(window, image);
  c.require(padding.top < window.kernel.h && padding.bottom < window.kernel.h &&
                padding.left < window.kernel.w && padding.right < window.kernel.w,
            "expected padding below the size of the window");
  return window_places(c, window, image);
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
  d.pad_top = static_cast<int>(padding.top);
  d.pad_left = static_cast<int>(padding.left);
  return d;
}

}  // namespace thimble::ops
