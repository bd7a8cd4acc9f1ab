// Shared by adaptive average and max pooling.
#pragma once

#include <thimble/attributes.h>

#include <fmt/format.h>

#include "ops/families/conv/conv.h"
#include "ops/families/update/adaptive_dims.h"

namespace thimble::ops {

// The size of the result; a 0 stands for the size of the image. Fails for other sizes below 1 and
// for empty images.
inline Pair adaptive_size(const ir::InferContext& c, Pair size, Pair image) {
  constexpr int64_t kLargest = 1 << 20;
  c.require(size.h >= 0 && size.w >= 0 && size.h <= kLargest && size.w <= kLargest,
            fmt::format("expected a size of at least 1 (or 0: as x) and at most {}", kLargest));
  c.require(image.h >= 1 && image.w >= 1, "expected images of at least 1 by 1");
  return {size.h == 0 ? image.h : size.h, size.w == 0 ? image.w : size.w};
}

inline adaptive_dims adaptive_dims_of(const Shape& image, const Shape& pooled) {
  adaptive_dims d{};
  d.n = static_cast<int>(image[0]);
  d.h = static_cast<int>(image[1]);
  d.w = static_cast<int>(image[2]);
  d.c = static_cast<int>(image[3]);
  d.p = static_cast<int>(pooled[1]);
  d.q = static_cast<int>(pooled[2]);
  return d;
}

// Elements of one image plus those of its result.
inline int64_t adaptive_image(const adaptive_dims& d) { return int64_t{d.h} * d.w * d.c; }
inline int64_t adaptive_result(const adaptive_dims& d) { return int64_t{d.p} * d.q * d.c; }

}  // namespace thimble::ops
