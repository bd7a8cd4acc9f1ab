// The forward part of a step cut into segments of which only the ends are kept.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/remat/schedule.h"

namespace thimble::plan {

// Choices to start a search from: every node is recomputed once, but for values that a later
// segment reads.
// Segments make about equally many bytes each and end where few of them are read later on: Chen et
// al., "Training deep nets with sublinear memory cost", 2016, on graphs that are no chains.
class Segments {
 public:
  // may: by node, whether it may be recomputed. builder must outlive this.
  Segments(const ScheduleBuilder& builder, std::vector<char> may);

  // One segment: nothing is kept but sources.
  [[nodiscard]] std::vector<Recompute> start(int count) const;

 private:
  [[nodiscard]] bool takes_memory(int node) const;
  void read_through_views();
  [[nodiscard]] int narrowest_end(int segment, int count) const;

  const ScheduleBuilder& builder_;
  std::vector<char> may_;
  std::vector<int> last_read_;     // by value: the last forward node that does; -1: none
  std::vector<int64_t> made_;      // by node: bytes made up to it
  std::vector<int64_t> crossing_;  // by node: bytes of them that nodes behind it read
};

}  // namespace thimble::plan
