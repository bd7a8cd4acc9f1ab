#include "io/png/png.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <vector>

#include "io/png/stb_write.h"

namespace thimble::io {
namespace {

constexpr unsigned char kPaper = 32;  // grey between the images: black images keep their edges

unsigned char to_byte(float value) {
  if (!(value > 0.0F)) return 0;  // NaN too
  return static_cast<unsigned char>(std::min(value, 1.0F) * 255.0F + 0.5F);
}

}  // namespace

std::string png_grid(std::span<const float> images, const ImageGrid& grid) {
  const int64_t size = grid.height * grid.width * grid.channels;
  const bool sane = grid.height > 0 && grid.width > 0 && grid.columns > 0 && grid.scale > 0 &&
                    grid.gap >= 0 && (grid.channels == 1 || grid.channels == 3);
  if (!sane || images.empty() || static_cast<int64_t>(images.size()) % size != 0) {
    throw Error("png", fmt::format("{} numbers are no images of {}x{}x{}", images.size(),
                                   grid.height, grid.width, grid.channels));
  }
  const int64_t count = static_cast<int64_t>(images.size()) / size;
  const int64_t columns = std::min(grid.columns, count);
  const int64_t rows = (count + columns - 1) / columns;
  const int64_t cell_h = grid.height * grid.scale + grid.gap;
  const int64_t cell_w = grid.width * grid.scale + grid.gap;
  const int64_t width = columns * cell_w + grid.gap;
  const int64_t height = rows * cell_h + grid.gap;
  constexpr int64_t kLargest = 20000;
  if (width > kLargest || height > kLargest) {
    throw Error("png", fmt::format("a picture of {}x{} pixels is too large; take fewer images",
                                   width, height));
  }
  std::vector<unsigned char> pixels(static_cast<size_t>(width * height * grid.channels), kPaper);
  for (int64_t i = 0; i < count; ++i) {
    const float* const image = images.data() + i * size;
    const int64_t top = grid.gap + i / columns * cell_h;
    const int64_t left = grid.gap + i % columns * cell_w;
    for (int64_t y = 0; y < grid.height * grid.scale; ++y) {
      for (int64_t x = 0; x < grid.width * grid.scale; ++x) {
        for (int64_t c = 0; c < grid.channels; ++c) {
          const int64_t from = (y / grid.scale * grid.width + x / grid.scale) * grid.channels + c;
          const int64_t to = ((top + y) * width + left + x) * grid.channels + c;
          pixels[static_cast<size_t>(to)] = to_byte(image[from]);
        }
      }
    }
  }
  return encode_png(pixels.data(), static_cast<int>(width), static_cast<int>(height),
                    static_cast<int>(grid.channels));
}

}  // namespace thimble::io
