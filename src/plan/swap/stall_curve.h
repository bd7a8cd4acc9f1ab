// Predicts how long a step waits for a swap file whose speed differs from the measured one.
#pragma once

#include <array>

#include "ir/graph.h"
#include "plan/swap/swap.h"

namespace thimble::plan {

class StallCurve {
 public:
  // Measured times of a step; milliseconds.
  struct Taken {
    double computing_ms;
    double busy_ms;   // while the file had transfers under way
    double stall_ms;  // while the step waited for it
  };

  // graph: a step with its transfers. costs: of nodes and file, each up to a factor.
  StallCurve(const ir::Graph& graph, SwapCosts costs, const Taken& taken);

  // Predicted wait in milliseconds of a step that computes for computing_ms while the file is busy
  // for busy_ms: the simulated wait, plus the part of the measured wait that the simulation missed.
  [[nodiscard]] double stall_ms(double computing_ms, double busy_ms) const;

 private:
  // Simulated waits if the file takes the measured time multiplied by kSlowest * i / kParts. Values
  // between two points are interpolated.
  static constexpr int kParts = 64;
  static constexpr double kSlowest = 8.0;
  std::array<double, kParts + 1> stall_ms_{};
  Taken taken_;
  double lacking_share_ = 0.0;  // missed wait, as a share of the file's busy time
};

}  // namespace thimble::plan
