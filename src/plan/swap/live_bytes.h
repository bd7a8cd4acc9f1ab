// Live bytes at each step, in blocks of steps: long ranges change, and the peak is found, without a
// visit to every step.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/swap/items.h"

namespace thimble::plan {

class LiveBytes {
 public:
  explicit LiveBytes(const Live& live);

  // Adds to the steps in [first, last).
  void add(int first, int last, int64_t bytes);

  // The first step with the most live bytes, or -1 if there is no step.
  [[nodiscard]] int peak_step() const;
  // What lives there; 0 if there is no step.
  [[nodiscard]] int64_t peak() const;

  // Of `bytes` at each step in [first, last): those above the target, summed.
  [[nodiscard]] int64_t above(int64_t target, int first, int last, int64_t bytes) const;

  [[nodiscard]] Live values() const;

 private:
  // `added` counts for all steps of the block; most and least count it, values do not.
  struct Block {
    int64_t added = 0;
    int64_t most = 0;
    int64_t least = 0;
  };

  [[nodiscard]] int end_of(int block) const;
  // Calls use(block, first, last) for the part of each block in [first, last).
  template <typename Use>
  static void for_each_block(int first, int last, const Use& use);
  void find_extremes(int block);

  Live values_;
  std::vector<Block> blocks_;
};

}  // namespace thimble::plan
