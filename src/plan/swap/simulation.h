// A step beside its swap file, as it is predicted.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/swap/swap.h"

namespace thimble::plan {

// Simulates a step: the file always runs the most urgent transfer, beside the nodes.
class TransferSimulation {
 public:
  explicit TransferSimulation(const SwapCosts& costs) : costs_(costs) {}

  void compute(double ms) { now_ += ms; }
  // Begins to move bytes into or out of memory.
  void begin(size_t slot, bool reads, int64_t bytes, int64_t deadline);
  // Waits for everything begun with a slot.
  void wait(size_t slot);
  [[nodiscard]] const TransferTimes& times() const { return times_; }

 private:
  struct Waiting {
    size_t which;
    int64_t deadline;
    double left_ms;
  };
  // Runs the most urgent transfer until it ends, or up to the given time.
  void run(double until);

  const SwapCosts& costs_;
  TransferTimes times_;
  double now_ = 0.0;
  std::vector<std::vector<size_t>> begun_;  // by slot: transfers not waited for yet
  // The queue of exec::SwapFile.
  std::vector<Waiting> waiting_;  // in the order they were added
  std::vector<double> done_;      // by transfer: its end; negative: not yet
  double at_ = 0.0;               // time up to which the queue was simulated
};

}  // namespace thimble::plan
