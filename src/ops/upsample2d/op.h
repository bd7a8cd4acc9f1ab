#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

// nearest: the pixel at floor(i / scale); nearest_exact: the pixel with the nearest center,
// floor((i + 1/2) / scale); bilinear: interpolates the four pixels around (i + 1/2) / scale - 1/2;
// bicubic: a cubic through the sixteen pixels around it (Keys 1981, a = -3/4).
enum class Upsampling : uint8_t { nearest, nearest_exact, bilinear, bicubic };

struct Upsample2dOptions {
  Pair size = Pair(0);   // height and width of the result; 0: from scale
  double scale = 0.0;    // factor of height and width; 0: result / input
  double scale_w = 0.0;  // factor of the width, if different
  Upsampling mode = Upsampling::nearest;
  bool align_corners = false;  // for bilinear and bicubic: align the centers of the corner pixels
};
void describe(Upsample2dOptions& options, ir::FieldVisitor& visitor);

// Resizes images. x: [N, H, W, C], f32, or i8: any for the nearest pixel, with a scale for
// bilinear, too; y: [N, P, Q, C] with (P, Q) = size or floor(scale * (H, W)). If size and scale are
// both given, size is the size of the result and scale determines the sampling points. Equal to
// torch.nn.functional.interpolate. Errors: Error unless size or scale is given and the images are
// not empty.
Value upsample2d(Value x, const Upsample2dOptions& options);

struct Upsample1dOptions {
  int64_t size = 0;                       // of the result; 0: found from scale
  double scale = 0.0;                     // 0: result / input
  Upsampling mode = Upsampling::nearest;  // bilinear: linear
  bool align_corners = false;
};

// upsample2d on sequences, seen as images of height 1. x: [N, L, C]; y: [N, Q, C].
Value upsample1d(Value x, const Upsample1dOptions& options);

struct Upsample3dOptions {
  std::vector<int64_t> size;              // of the result: depth, height and width, or one number
  double scale = 0.0;                     // factor of all three; 0: result / input
  Upsampling mode = Upsampling::nearest;  // bilinear: trilinear; not bicubic
  bool align_corners = false;
};

// Resizes volumes: along the depth by upsample1d, then every plane by upsample2d, with their rules
// for size and scale. x: [N, D, H, W, C], f32; y: [N, O, P, Q, C]. Equal to
// torch.nn.functional.interpolate. Errors: as upsample2d's, and for bicubic.
Value upsample3d(Value x, const Upsample3dOptions& options);

}  // namespace thimble
