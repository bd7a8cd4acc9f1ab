// How long a step waits for a swap file that is not as fast as it was.
#pragma once

#include <array>

#include "ir/graph.h"
#include "plan/swap.h"

namespace thimble::plan {

class StallCurve {
 public:
  // Of a step with its transfers, during which the file was busy, and was waited for, so long;
  // milliseconds. costs: of its nodes as they were then; of the file, up to a factor.
  StallCurve(const ir::Graph& graph, const SwapCosts& costs, double busy_ms, double stall_ms);

  // Milliseconds, of a step that computes so long while the file is busy so long. The account of
  // the plan gives the difference to what was measured.
  [[nodiscard]] double stall_ms(double computing_ms, double busy_ms) const;

 private:
  // By the account, where the file takes the time that was measured, times kSlowest * i / kParts;
  // between two points nearly straight.
  static constexpr int kParts = 64;
  static constexpr double kSlowest = 8.0;
  static constexpr double kNone = 1e-9;  // to divide by
  std::array<double, kParts + 1> stall_ms_{};
  double computing_ms_ = kNone;
  double busy_ms_ = 0.0;
  double besides_ms_ = 0.0;  // of what was measured, what the account lacks
};

}  // namespace thimble::plan
