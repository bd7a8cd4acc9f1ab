// PNG pictures.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace thimble::io {

// Images laid out in rows, as one picture.
struct ImageGrid {
  int64_t height = 28;  // of one image, in pixels
  int64_t width = 28;
  int64_t channels = 1;  // 1 or 3
  int64_t columns = 10;
  int64_t gap = 2;    // pixels between images and around them
  int64_t scale = 2;  // each pixel becomes scale x scale
};

// The PNG bytes of a grid. images: [count, height, width, channels], 0 (black) to 1; values outside
// are clamped, NaN becomes 0. Throws Error where the sizes do not fit.
[[nodiscard]] std::string png_grid(std::span<const float> images, const ImageGrid& grid);

}  // namespace thimble::io
