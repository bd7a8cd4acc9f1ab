// A window that slides over an image, shared by convolutions and pooling.
#pragma once

#include <thimble/attributes.h>

#include "ir/op_def.h"

namespace thimble::ops {

struct Window {
  Pair kernel;
  Pair stride;
  Pair dilation;
  Padding padding;
};

// Fails unless kernel, stride and dilation are positive, padding is not negative, and the cells and
// the extent of the window fit the kernels' int.
void check_window(const ir::InferContext& c, const Window& window);

// Fails unless the places of every cell of every window over an image of this height and width fit
// the kernels' int. The window was checked.
void check_reach(const ir::InferContext& c, const Window& window, Pair image);

// The extent of a dilated window: dilation * (kernel - 1) + 1.
[[nodiscard]] Pair window_extent(const Window& window);

// The padding as numbers, for an image of this height and width.
[[nodiscard]] Padding settled_padding(const Window& window, Pair image);

// Number of window positions: floor((image + padding - extent) / stride) + 1 along each side. Fails
// where the window fits nowhere, and as check_reach.
[[nodiscard]] Pair window_places(const ir::InferContext& c, const Window& window, Pair image);

// Height and width of an image [N, H, W, C].
[[nodiscard]] inline Pair image_size(const Shape& image) { return {image[1], image[2]}; }

}  // namespace thimble::ops
