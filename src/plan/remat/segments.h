// Cuts the forward part of a step into segments of which only the ends are kept.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/remat/schedule.h"

namespace thimble::plan {

// Choices from which a search starts: every node is recomputed once, except the values that a later
// segment reads. Segments make about equally many bytes each and end where the fewest bytes are
// read later: Chen et al., "Training deep nets with sublinear memory cost", 2016, for graphs that
// are not chains.
class Segments {
 public:
  // may: by node, whether it may be recomputed. builder must outlive this object.
  Segments(const ScheduleBuilder& builder, std::vector<char> may);

  // One segment keeps only sources.
  [[nodiscard]] std::vector<Recompute> start(int count) const;

 private:
  [[nodiscard]] bool takes_memory(int node) const;
  [[nodiscard]] int narrowest_end(int segment, int count) const;

  const ScheduleBuilder& builder_;
  std::vector<char> may_;
  std::vector<int> last_read_;     // by value: its last forward reader; -1: none
  std::vector<int64_t> made_;      // by node: bytes made up to this node
  std::vector<int64_t> crossing_;  // by node: of those, the bytes that later nodes read
};

}  // namespace thimble::plan
