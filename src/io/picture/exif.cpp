#include "io/picture/exif.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>

namespace thimble::io {
namespace {

constexpr char kExif[] = {'E', 'x', 'i', 'f', 0, 0};
constexpr uint32_t kOrientation = 0x0112;
constexpr uint32_t kShort = 3;  // a number of 16 bits
constexpr size_t kEntryBytes = 12;

// The TIFF structure behind the name. A number past the end is 0.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> bytes)
      : bytes_(bytes), is_little_(!bytes.empty() && bytes[0] == std::byte{'I'}) {}

  [[nodiscard]] uint32_t number(size_t at, size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) return 0;
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      const size_t place = is_little_ ? at + size - 1 - i : at + i;
      value = value << 8 | std::to_integer<uint32_t>(bytes_[place]);
    }
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  bool is_little_;
};

// Where the pixel at a row and column of the upright picture is stored.
std::pair<int64_t, int64_t> stored_at(int orientation, const PictureSize& stored, int64_t row,
                                      int64_t column) {
  const int64_t last_row = stored.height - 1;
  const int64_t last_column = stored.width - 1;
  switch (orientation) {
    case 2:
      return {row, last_column - column};
    case 3:
      return {last_row - row, last_column - column};
    case 4:
      return {last_row - row, column};
    case 5:
      return {column, row};
    case 6:
      return {last_row - column, row};
    case 7:
      return {last_row - column, last_column - row};
    case 8:
      return {column, last_column - row};
    default:
      return {row, column};
  }
}

}  // namespace

bool is_exif(std::span<const std::byte> segment) {
  return segment.size() > sizeof(kExif) &&
         std::equal(std::begin(kExif), std::end(kExif), segment.begin(), [](char a, std::byte b) {
           return std::byte(static_cast<unsigned char>(a)) == b;
         });
}

int exif_orientation(std::span<const std::byte> segment) {
  if (!is_exif(segment)) return 1;
  const Tiff tiff(segment.subspan(sizeof(kExif)));
  const size_t directory = tiff.number(4, 4);
  const size_t entries = tiff.number(directory, 2);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (tiff.number(entry, 2) != kOrientation) continue;
    const bool is_number = tiff.number(entry + 2, 2) == kShort && tiff.number(entry + 4, 4) == 1;
    const uint32_t value = is_number ? tiff.number(entry + 8, 2) : 1;
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Picture upright(Picture stored, int orientation) {
  if (orientation == 1) return stored;
  const PictureSize from = stored.size;
  PictureSize to = from;
  if (is_turned(orientation)) std::swap(to.height, to.width);
  const auto channels = static_cast<size_t>(to.channels);
  const size_t bytes = static_cast<size_t>(to.height * to.width) * channels;
  Picture picture{to, {static_cast<unsigned char*>(std::malloc(bytes)), std::free}};
  if (picture.pixels == nullptr) throw std::bad_alloc();
  unsigned char* pixel = picture.pixels.get();
  for (int64_t row = 0; row < to.height; ++row) {
    for (int64_t column = 0; column < to.width; ++column) {
      const auto [y, x] = stored_at(orientation, from, row, column);
      const size_t at = static_cast<size_t>(y * from.width + x) * channels;
      pixel = std::copy_n(stored.pixels.get() + at, channels, pixel);
    }
  }
  return picture;
}

}  // namespace thimble::io
