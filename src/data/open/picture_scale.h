// A picture of any size as an input of a given one.
#pragma once

#include <thimble/data_open.h>

#include <cstdint>
#include <span>
#include <vector>

#include "io/picture/picture.h"

namespace thimble::data {

// The part of a picture that is taken, in pixels; edges may lie inside a pixel.
struct PictureBox {
  double top = 0;
  double left = 0;
  double height = 0;
  double width = 0;
};

// All of the picture, or of its middle what has the proportions of height x width.
[[nodiscard]] PictureBox box_of(const io::PictureSize& size, int64_t height, int64_t width,
                                ImageOptions::Fit fit);

// Writes [height, width, channels] in 0..255: the box of the picture, scaled with a triangle filter
// whose support grows with the reduction, so that nothing aliases (Pillow's BILINEAR; PyTorch's
// interpolate with antialias). channels: 1, 3 or 4. Colours become gray by ITU-R BT.601; alpha is
// left out, or 255 where the picture has none. scratch keeps its memory from call to call.
void scale_picture(const io::Picture& picture, const PictureBox& box, int64_t height, int64_t width,
                   int64_t channels, std::vector<float>& scratch, float* to);

}  // namespace thimble::data
