// The length of a step along a direction.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace thimble::train {

// A function's value and slope at a length along a direction.
struct LinePoint {
  double length = 0.0;
  double value = 0.0;
  double slope = 0.0;  // along the direction
  std::vector<double> gradient;
};

// The minimum of the cubic through two points with their slopes, within bounds; their middle where
// the cubic has none. Source: Nocedal and Wright, equation 3.59.
[[nodiscard]] double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high);

struct LineSearchResult {
  LinePoint point;
  int64_t evaluations = 0;
};

// A point that satisfies the strong Wolfe conditions (c1 = 1e-4, c2 = 0.9), or the best of those
// evaluated: at first_length and at most `more_points` others. start: of length 0 and a negative
// slope; largest: of the direction's elements by magnitude, so that steps below `tolerance` end the
// search; evaluate: the function at a length. Source: Nocedal
// and Wright, algorithms 3.5 and 3.6, with minFunc's interpolation, as torch.optim.LBFGS has it.
[[nodiscard]] LineSearchResult strong_wolfe(const LinePoint& start, double first_length,
                                            int64_t more_points, double largest, double tolerance,
                                            const std::function<LinePoint(double)>& evaluate);

}  // namespace thimble::train
