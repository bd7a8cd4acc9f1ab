// How people write the ten digits: strokes of a pen, several styles per digit.
#pragma once

#include <array>
#include <span>

namespace thimble::data {

// A point that the pen goes through. x to the right, y down; a digit is about 0..0.65 wide and
// 0..1 high.
struct Knot {
  float x;
  float y;
  bool corner = false;  // the direction changes abruptly here; elsewhere the stroke is smooth
};

inline constexpr int kMaxKnots = 15;  // of one stroke

struct Style {
  float weight;                                  // how often, relative to the digit's other styles
  std::array<std::span<const Knot>, 2> strokes;  // the second may be empty
};

[[nodiscard]] std::span<const Style> styles_of(int digit);

}  // namespace thimble::data
