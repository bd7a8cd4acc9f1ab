// Draws one handwritten digit.
#pragma once

#include <cstdint>
#include <span>

#include "data/random.h"

namespace thimble::data {

inline constexpr int kDigitSize = 28;  // pixels per side

// Draws `digit` (0..9) in a hand that is a function of `random` alone: style, proportions, slant,
// pen and jitter. image: [28, 28], row-major, 0 background to 255 ink. Uses only operations that
// IEEE 754 rounds exactly, so that every platform draws the same bytes.
void draw_digit(int digit, Random random, std::span<uint8_t, kDigitSize * kDigitSize> image);

}  // namespace thimble::data
