// Paints one picture of the built-in colour images.
#pragma once

#include <cstdint>
#include <span>

#include "data/random.h"

namespace thimble::data {

enum class ShapeClass : uint8_t {
  disc,
  ring,
  triangle,
  square,
  star,
  cross,
  crescent,
  striped,
  checked,
  dotted,
};

// Paints a thing of the class in a scene that is a function of `random` alone: colours, place,
// size, rotation, brightness, background, clutter, noise. image: [side, side, 3], row-major,
// multiples of 1/255 in 0..1. Uses only operations that IEEE 754 rounds exactly, so that every
// platform paints the same values. Allocates nothing.
void paint_shape(ShapeClass what, Random random, int side, float* image);

}  // namespace thimble::data
