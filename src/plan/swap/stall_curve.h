// How long a step waits for a swap file that is not as fast as it was.
#pragma once

#include <array>

#include "ir/graph.h"
#include "plan/swap/swap.h"

namespace thimble::plan {

class StallCurve {
 public:
  // What a step took; milliseconds.
  struct Taken {
    double computing_ms;
    double busy_ms;   // while the file had transfers under way
    double stall_ms;  // while the step waited for it
  };

  // Of a step with its transfers. costs: of nodes and file, each up to a factor.
  StallCurve(const ir::Graph& graph, SwapCosts costs, const Taken& taken);

  // Milliseconds, of a step that computes so long while the file is busy so long: what the plan
  // simulates for that, and what it lacked of the step that was measured.
  [[nodiscard]] double stall_ms(double computing_ms, double busy_ms) const;

 private:
  // Simulated, where the file takes the time that was measured, times kSlowest * i / kParts;
  // between two points nearly straight.
  static constexpr int kParts = 64;
  static constexpr double kSlowest = 8.0;
  std::array<double, kParts + 1> stall_ms_{};
  Taken taken_;
  double lacking_share_ = 0.0;  // of the time that the file is busy
};

}  // namespace thimble::plan
