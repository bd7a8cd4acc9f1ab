#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

// nearest: the pixel at floor(i / scale); nearest_exact: the pixel whose middle is nearest,
// floor((i + 1/2) / scale); bilinear: between the four pixels around (i + 1/2) / scale - 1/2;
// bicubic: a smooth curve through the sixteen around it (Keys 1981, a = -3/4).
enum class Upsampling : uint8_t { nearest, nearest_exact, bilinear, bicubic };

struct Upsample2dOptions {
  Pair size = Pair(0);   // height and width of the result; 0: found from scale
  double scale = 0.0;    // of height and width; 0: result / input
  double scale_w = 0.0;  // of the width, where it differs
  Upsampling mode = Upsampling::nearest;
  bool align_corners = false;  // of bilinear and bicubic: the middles of the corners stay
};

// Images of another size, larger or smaller. x: [N, H, W, C], f32; y: [N, P, Q, C] with (P, Q) =
// size or floor(scale * (H, W)). Where size and scale are both given, the result has that size and
// pixels lie as the scale says. Equal to torch.nn.functional.interpolate.
// Errors: Error unless size or scale is given and the images are not empty.
Value upsample2d(Value x, const Upsample2dOptions& options);

struct Upsample1dOptions {
  int64_t size = 0;                       // of the result; 0: found from scale
  double scale = 0.0;                     // 0: result / input
  Upsampling mode = Upsampling::nearest;  // bilinear: linear
  bool align_corners = false;
};

// upsample2d on sequences, seen as images one row high. x: [N, L, C]; y: [N, Q, C].
Value upsample1d(Value x, const Upsample1dOptions& options);

}  // namespace thimble
