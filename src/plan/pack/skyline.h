// Greedy packing: fill the lowest place first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/pack/problem.h"

namespace thimble::plan {

struct Skyline {
  std::vector<int64_t> offsets;  // per item, in units
  int64_t peak = 0;
  int64_t steps = 0;  // work, in items looked at
};

// Takes the lowest valley of the skyline of placed items. Of the items that lie within its span of
// time, puts the one of smallest rank into it; where none fits, fills the valley up to its lower
// side. About O(n log n).
// Source: the best-fit heuristic of T. Sekiyama et al., "Profile-guided memory optimization for
// deep neural networks", arXiv 1804.10001, with ranks of our own.
[[nodiscard]] Skyline pack_skyline(const Problem& problem, std::span<const int> rank);

}  // namespace thimble::plan
