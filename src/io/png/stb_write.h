// The one function of stb_image_write that is used, behind a clean declaration.
#pragma once

#include <string>

namespace thimble::io {

// pixels: [height, width, channels], one byte each. Throws Error where encoding fails.
[[nodiscard]] std::string encode_png(const unsigned char* pixels, int width, int height,
                                     int channels);

}  // namespace thimble::io
