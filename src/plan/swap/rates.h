// Speed of the swap file, as the planner models it.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/swap/swap.h"

namespace thimble::plan {

// Rates of a swap file; see exec::SwapFile.
struct SwapRates {
  double read_ms_per_byte = 1e-6;  // 1 GB/s
  double write_ms_per_byte = 1e-6;
  double transfer_ms = 0.05;  // added to each transfer
  // Staging at which the rates hold, the least at which the file works, and the step between sizes.
  int64_t staging_bytes = 0;
  int64_t least_staging_bytes = 0;
  int64_t staging_step_bytes = 1;
  double least_staging_factor = 6.0;  // slowdown per byte with the least staging

  // Rates with less staging: a transfer is then cut into more pieces, each with its own latency, so
  // time falls as 1/staging_bytes.
  [[nodiscard]] SwapRates with_staging(int64_t bytes) const;
  // Scales the rates by a factor measured with this much staging. A measurement with the least
  // staging only scales the rate with the least staging, because it says little of more.
  void scale(double factor, int64_t bytes);
  // Costs of a step with these node times and these rates; see with_staging.
  [[nodiscard]] SwapCosts costs(std::vector<double> node_ms) const;
  // The most staging that takes at most this many bytes more than the least.
  [[nodiscard]] int64_t staging_within(int64_t bytes) const;
  bool operator==(const SwapRates&) const = default;
};

// The disk. The planner asks for its rates only if it considers swap, because measuring may take
// long.
class SwapDevice {
 public:
  virtual ~SwapDevice() = default;
  [[nodiscard]] virtual SwapRates rates() = 0;
};

// A device of known rates.
class KnownSwapDevice final : public SwapDevice {
 public:
  explicit KnownSwapDevice(const SwapRates& rates) : rates_(rates) {}
  [[nodiscard]] SwapRates rates() override { return rates_; }

 private:
  SwapRates rates_;
};

}  // namespace thimble::plan
