// JPEG pictures.
#pragma once

#include "io/picture/picture.h"

namespace thimble::io {

// From the frame header, found behind the segments before it, and the orientation from those. The
// first two bytes are read already.
[[nodiscard]] PictureSize jpeg_size(const std::string& file, const ReadBytes& read);

// Decodes with libjpeg-turbo, which is loaded when the first picture is decoded. size: what the
// file's header says, checked. Throws Error where the file is damaged, of more
// scans than pictures have, or where libjpeg-turbo is missing.
[[nodiscard]] Picture decode_jpeg(const std::string& file, std::span<const std::byte> bytes,
                                  const PictureSize& size);

}  // namespace thimble::io
