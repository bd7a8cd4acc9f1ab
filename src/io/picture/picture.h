// Decoding pictures: PNG and JPEG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace thimble::io {

// Larger pictures are refused before anything is decoded.
inline constexpr int64_t kMostPixels = int64_t{1} << 26;

struct PictureSize {
  int64_t height = 0;    // pixels
  int64_t width = 0;     // pixels
  int64_t channels = 0;  // 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha
  // How the pixels of a JPEG file are stored, of its EXIF data; height and width are those upright.
  int orientation = 1;
};

struct Picture {
  PictureSize size;
  std::unique_ptr<unsigned char, void (*)(void*)> pixels;  // [height, width, channels]
};

// Reads up to the span's size of bytes, and says how many: fewer at the end alone.
using ReadBytes = std::function<size_t(std::span<std::byte>)>;

// From the header of a PNG or JPEG file. Throws Error naming the file where it is neither, or
// larger than kMostPixels.
[[nodiscard]] PictureSize picture_size(const std::string& file, const ReadBytes& read);

// A whole PNG or JPEG file. 16-bit channels give their upper 8 bits, palettes their colours. A
// JPEG is turned as its EXIF data say; of CMYK colours it becomes RGB, without colour profiles.
// Memory: about four times the pixels' bytes while decoding. Throws Error naming the file where it
// is damaged, which the checksums of a PNG tell, or of another kind.
[[nodiscard]] Picture decode_picture(const std::string& file, std::span<const std::byte> bytes);

}  // namespace thimble::io
