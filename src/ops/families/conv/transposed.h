// Sizes of transposed convolutions, of attributes with stride, padding, output_padding and
// dilation.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "ir/sizes.h"
#include "ops/families/conv/conv.h"

namespace thimble::ops {

// Subtracts what output_padding and padding have in common from both: with an output_padding of at
// least the stride, the adjoint convolution of the result would otherwise be larger than x.
template <class T>
[[nodiscard]] T canonical_transpose(T attrs) {
  const auto move = [](int64_t& extra, int64_t& cut, int64_t stride) {
    if (extra < stride) return;
    const int64_t both = std::min(extra, cut);
    extra -= both;
    cut -= both;
  };
  if (attrs.padding.automatic) return attrs;
  move(attrs.output_padding.h, attrs.padding.bottom, attrs.stride.h);
  move(attrs.output_padding.w, attrs.padding.right, attrs.stride.w);
  return attrs;
}

// Height and width of the result. The adjoint convolution maps an image of this size to the size of
// x.
template <class T>
[[nodiscard]] Pair transpose_size(const T& attrs, const Window& window, Pair x) {
  const Pair stride = attrs.stride;
  if (attrs.padding.automatic) {
    return {ir::bounded_product(x.h, stride.h), ir::bounded_product(x.w, stride.w)};
  }
  const Pair extent = window_extent(window);
  const Padding& padding = attrs.padding;
  return {ir::bounded_product(x.h - 1, stride.h) - padding.top - padding.bottom + extent.h +
              attrs.output_padding.h,
          ir::bounded_product(x.w - 1, stride.w) - padding.left - padding.right + extent.w +
              attrs.output_padding.w};
}

template <class T>
void check_output_padding(const ir::InferContext& c, const T& attrs) {
  const Pair extra = attrs.output_padding;
  c.require(extra.h >= 0 && extra.w >= 0 && extra.h < attrs.stride.h && extra.w < attrs.stride.w,
            "expected output_padding of at least 0 and, less the padding below and to the right, "
            "below stride: it only chooses among the sizes that the convolution maps to that of x");
  c.require(!attrs.padding.automatic || extra == Pair(0),
            "Padding::same() sets the size of the result; leave output_padding out");
}

// The size of the result for x (input 0) and canonical attributes. Fails where padding leaves
// nothing or output_padding is too large.
template <class T>
[[nodiscard]] Pair checked_transpose_size(const ir::InferContext& c, const T& attrs,
                                          const Window& window) {
  check_output_padding(c, attrs);
  const Shape& x = c.shape(0);
  c.require(x[1] >= 1 && x[2] >= 1, "expected images of at least 1 by 1");
  const Pair size = transpose_size(attrs, window, image_size(x));
  if (size.h < 1 || size.w < 1) {
    c.fail(fmt::format("nothing is left: the result would be {} by {}; make padding smaller",
                       size.h, size.w));
  }
  check_reach(c, window, size);
  return size;
}

}  // namespace thimble::ops
