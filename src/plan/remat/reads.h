// Positions in a schedule at which values are read.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "plan/remat/schedule.h"

namespace thimble::plan {

// For each value of the graph, the positions at which its first copy and its recomputed ones are
// read.
class Reads {
 public:
  static constexpr int kNever = std::numeric_limits<int>::max();

  Reads(const ScheduleBuilder& builder, const RematSchedule& schedule)
      : reads_(builder.graph().values.size()) {
    const auto values = static_cast<int>(reads_.size());
    for (int at = 0; at < schedule.sequence.size(); ++at) {
      const ScheduleEntry& entry = schedule.entries[static_cast<size_t>(at)];
      const bool late = entry.recomputed || entry.node > builder.loss_node();
      for (const int read : schedule.sequence.inputs(at)) {
        if (read < 0) continue;
        Where& where = reads_[static_cast<size_t>(schedule.original[static_cast<size_t>(read)])];
        where.last = at;
        if (read < values && !late) where.last_early = at;
        if (late) where.first_late = std::min(where.first_late, at);
        if (at == schedule.peak) where.at_peak = true;
      }
    }
  }

  struct Where {
    int last_early = -1;
    int first_late = kNever;
    int last = -1;
    bool at_peak = false;
  };
  [[nodiscard]] const Where& of(int id) const { return reads_[static_cast<size_t>(id)]; }

 private:
  std::vector<Where> reads_;
};

}  // namespace thimble::plan
