// The orientation that a camera notes in a JPEG file's EXIF data.
#pragma once

#include <cstddef>
#include <span>

#include "io/picture/picture.h"

namespace thimble::io {

// Whether these are the contents of an APP1 segment with EXIF data; others hold XMP.
[[nodiscard]] bool is_exif(std::span<const std::byte> segment);
// From the contents of such a segment: 1 to 8 as EXIF 2.32 numbers them (tag 0x0112), 1 where
// there is none or the data are damaged.
[[nodiscard]] int exif_orientation(std::span<const std::byte> segment);

// Whether height and width are exchanged.
[[nodiscard]] constexpr bool is_turned(int orientation) { return orientation >= 5; }

// The picture as it is to be seen: what PIL's ImageOps.exif_transpose returns.
[[nodiscard]] Picture upright(Picture stored, int orientation);

}  // namespace thimble::io
