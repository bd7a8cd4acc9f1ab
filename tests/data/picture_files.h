// Pictures for tests.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "data/test_files.h"
#include "io/png/stb_write.h"

namespace thimble::data::testing {

// A PNG of [height, width, channels].
inline std::string png_of(const std::vector<unsigned char>& pixels, int height, int width,
                          int channels) {
  EXPECT_EQ(pixels.size(), static_cast<size_t>(height * width * channels));
  return io::encode_png(pixels.data(), width, height, channels);
}

// One colour.
inline std::string png_of_colour(int height, int width, std::vector<unsigned char> colour) {
  std::vector<unsigned char> pixels;
  for (int i = 0; i < height * width; ++i)
    pixels.insert(pixels.end(), colour.begin(), colour.end());
  return png_of(pixels, height, width, static_cast<int>(colour.size()));
}

// 5 x 7 pixels of (37 x + 91 y + 13 x y) mod 256.
inline std::string formula_png() {
  std::vector<unsigned char> pixels;
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 7; ++x) {
      pixels.push_back(static_cast<unsigned char>((37 * x + 91 * y + 13 * x * y) % 256));
    }
  }
  return png_of(pixels, 5, 7, 1);
}

// A picture that Pillow 11 wrote: 8 x 8 pixels (10 x, 15 y, 6 (x + y)), or the first of these
// alone.
inline std::string pillow_file(const std::string& name) {
  std::ifstream file(std::string(THIMBLE_SOURCE_DIR "/tests/fuzz/seeds/picture/") + name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace thimble::data::testing
