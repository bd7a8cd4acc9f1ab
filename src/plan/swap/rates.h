// What the swap file takes, as the planner reckons with it.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/swap/swap.h"

namespace thimble::plan {

// Of a swap file; see exec::SwapFile.
struct SwapRates {
  double read_ms_per_byte = 1e-6;  // 1 GB/s
  double write_ms_per_byte = 1e-6;
  double transfer_ms = 0.05;  // of each transfer, besides
  // Staging with which the file is as fast as that; least, with which it works at all; and what it
  // can grow by from there.
  int64_t staging_bytes = 0;
  int64_t least_staging_bytes = 0;
  int64_t staging_step_bytes = 1;
  double least_staging_factor = 6.0;  // how many times as long bytes take with the least staging

  // With less staging a transfer is cut into more pieces, each of which takes as long to begin: its
  // time falls as that of 1/staging_bytes.
  [[nodiscard]] SwapRates with_staging(int64_t bytes) const;
  // Makes everything take that many times as long, where a step with so much staging did: with the
  // least, which says little of more, bytes with the least alone.
  void scale(double factor, int64_t bytes);
  // Of nodes that take so long, and a file of these rates as they stand; see with_staging.
  [[nodiscard]] SwapCosts costs(std::vector<double> node_ms) const;
  // The most staging that takes no more than so many bytes more than the least.
  [[nodiscard]] int64_t staging_within(int64_t bytes) const;
  bool operator==(const SwapRates&) const = default;
};

// The disk, which the planner asks where swap comes into question: measuring it may take long.
class SwapDevice {
 public:
  virtual ~SwapDevice() = default;
  [[nodiscard]] virtual SwapRates rates() = 0;
};

// One whose rates are known.
class KnownSwapDevice final : public SwapDevice {
 public:
  explicit KnownSwapDevice(const SwapRates& rates) : rates_(rates) {}
  [[nodiscard]] SwapRates rates() override { return rates_; }

 private:
  SwapRates rates_;
};

}  // namespace thimble::plan
