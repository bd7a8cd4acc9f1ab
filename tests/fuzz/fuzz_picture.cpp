// Any bytes as a PNG or JPEG file: pixels of the size that the header gives, or an Error. Pictures
// of more than a million pixels are skipped, because they are slow and test nothing new.
#include "io/picture/picture.h"

#include <thimble/error.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "data/open/picture_scale.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
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
