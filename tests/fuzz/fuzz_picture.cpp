// Any bytes as a PNG or JPEG file: pixels of the size that the header gives, or an Error. The
// checksums of a PNG are made right, so that what stands behind them is tested. Pictures of more
// than a million pixels are skipped, because they are slow and test nothing new.
#include "io/picture/picture.h"

#include <thimble/error.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "data/open/picture_scale.h"

namespace {

uint32_t word_at(const std::vector<uint8_t>& file, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8U | file[at + i];
  return value;
}

std::vector<uint8_t> with_checksums(std::vector<uint8_t> file) {
  constexpr size_t kMagic = 8;
  constexpr size_t kAround = 12;  // length, type and checksum
  for (size_t at = kMagic; at + kAround <= file.size();) {
    const size_t length = word_at(file, at);
    if (length > file.size() - at - kAround) break;
    const auto sum = static_cast<uint32_t>(crc32_z(0, file.data() + at + 4, length + 4));
    at += kAround + length;
    for (size_t i = 0; i < 4; ++i) file[at - 4 + i] = static_cast<uint8_t>(sum >> (24 - 8 * i));
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble;
  const bool is_jpeg = size >= 2 && data[0] == 0xFF && data[1] == 0xD8;
  std::vector<uint8_t> file(data, data + size);
  if (!is_jpeg) file = with_checksums(std::move(file));
  const std::span<const std::byte> bytes = std::as_bytes(std::span(file));
  try {
    size_t at = 0;
    const io::PictureSize header = io::picture_size("fuzz", [&](std::span<std::byte> to) {
      const size_t count = std::min(to.size(), bytes.size() - at);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, to.begin());
      at += count;
      return count;
    });
    if (header.height * header.width > 1 << 20) return 0;
    const io::Picture picture = io::decode_picture("fuzz", bytes);
    if (picture.size.height != header.height || picture.size.width != header.width) std::abort();
    std::vector<float> scratch;
    std::vector<float> image(3 * 2 * 3);
    for (const auto fit : {data::ImageOptions::Fit::crop, data::ImageOptions::Fit::stretch}) {
      data::scale_picture(picture, data::box_of(picture.size, 3, 2, fit), 3, 2, 3, scratch,
                          image.data());
    }
    for (const float value : image) {
      if (!(value >= 0 && value <= 255.01F)) std::abort();
    }
  } catch (const Error&) {
  }
  return 0;
}
