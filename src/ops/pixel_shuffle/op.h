#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct PixelShuffleOptions {
  int64_t factor = 2;  // how many times as high and wide, at least 1
};

// Channels become pixels: y[n, h*r + i, w*r + j, c] = x[n, h, w, (c*r + i)*r + j], r = factor.
// x: [N, H, W, C * r^2]; y: [N, H*r, W*r, C]. A transpose between views. Source: Shi et al.,
// "Real-time single image and video super-resolution using an efficient sub-pixel convolutional
// neural network", 2016. Errors: Error where r^2 does not divide the channels.
Value pixel_shuffle(Value x, const PixelShuffleOptions& options);

// The opposite: pixels become channels. x: [N, H*r, W*r, C]; y: [N, H, W, C * r^2].
// Errors: Error where r does not divide height and width.
Value pixel_unshuffle(Value x, const PixelShuffleOptions& options);

}  // namespace thimble
