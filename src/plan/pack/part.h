// The best packing of one independent part of a problem.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/pack/problem.h"
#include "plan/pack/skyline.h"

namespace thimble::plan {

// Sizes and offsets are in units of the problem.
class PartPacker {
 public:
  explicit PartPacker(const Problem& problem) : problem_(problem) {}

  // Skyline packings in several orders until the peak is at most `goal` or the steps are used up;
  // one at least.
  void pack_greedily(int64_t goal, int64_t step_limit);
  // Exact search for peaks below the best so far, down to `goal` (at least the lower bound), until
  // that is reached, proven impossible, or the steps are used up.
  void search(int64_t goal, int64_t step_limit);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const std::vector<int64_t>& offsets() const { return offsets_; }
  [[nodiscard]] int64_t peak() const { return peak_; }
  // No packing of this part is lower.
  [[nodiscard]] bool optimal() const { return peak_ <= proven_; }
  [[nodiscard]] int64_t steps() const { return steps_; }

 private:
  Skyline try_skyline(std::span<const int> rank);
  bool search_height(int64_t height, int64_t step_limit);
  void keep(const std::vector<int64_t>& offsets);

  const Problem& problem_;
  std::vector<int64_t> offsets_;
  int64_t peak_ = 0;
  int64_t proven_ = problem_.lower_bound;  // no peak is below it
  int64_t steps_ = 0;
};

}  // namespace thimble::plan
