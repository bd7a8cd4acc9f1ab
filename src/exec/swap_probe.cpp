#include "exec/swap_probe.h"

#include <thimble/error.h>

#include <algorithm>

namespace thimble::exec {
namespace {

constexpr int64_t kMostStagingBuffer = int64_t{256} << 10;
constexpr int64_t kBuffersInBudget = 32;  // two buffers take a sixteenth of the budget

plan::SwapRates rates_of(const std::string& folder, const SwapOptions& options) {
  const Bandwidth measured = measure_bandwidth(folder, options);
  return {.read_ms_per_byte = 1e3 / measured.read_bytes_per_second,
          .write_ms_per_byte = 1e3 / measured.write_bytes_per_second,
          .transfer_ms = 1e3 * measured.seconds_per_transfer};
}

}  // namespace

void SwapProbe::set_budget(int64_t bytes, bool is_nominal) {
  budget_bytes_ = bytes;
  is_nominal_ = is_nominal;
}

plan::SwapRates SwapProbe::rates() {
  const int64_t page = smallest_.buffer_bytes;
  SwapOptions file = smallest_;
  file.buffer_bytes =
      std::clamp<int64_t>(budget_bytes_ / kBuffersInBudget / page * page, page, kMostStagingBuffer);
  if (!known_) known_ = measured(file);
  known_->staging_bytes = SwapFile::staging_bytes(file);
  known_->least_staging_bytes = least_staging_bytes();
  known_->staging_step_bytes = file.buffers * page;
  return now();
}

int64_t SwapProbe::least_staging_bytes() const { return SwapFile::staging_bytes(smallest_); }

int64_t SwapProbe::most_staging_bytes() const {
  SwapOptions largest = smallest_;
  largest.buffer_bytes = kMostStagingBuffer;
  return SwapFile::staging_bytes(largest);
}

std::string SwapProbe::why_not(int64_t bytes) const {
  const std::string why = SwapFile::why_not(folder_, bytes);
  return why.empty() ? error_ : why;
}

plan::SwapRates SwapProbe::measured(const SwapOptions& file) {
  const int64_t taken = std::max(measuring_bytes(file), measuring_bytes(smallest_));
  if (taken > budget_bytes_ - held_bytes_()) return {};
  try {
    plan::SwapRates rates = rates_of(folder_, file);
    const plan::SwapRates least = rates_of(folder_, smallest_);
    rates.least_staging_factor = (least.read_ms_per_byte + least.write_ms_per_byte) /
                                 (rates.read_ms_per_byte + rates.write_ms_per_byte);
    return rates;
  } catch (const Error& error) {
    error_ = error.message();
    return {};  // a plan with nominal rates tells how large the file would have to be
  }
}

plan::SwapRates SwapProbe::now() const {
  const plan::SwapRates measured = known();
  if (!is_nominal_) return measured;
  return {.staging_bytes = measured.staging_bytes,
          .least_staging_bytes = measured.least_staging_bytes,
          .staging_step_bytes = measured.staging_step_bytes};
}

plan::SwapRates SwapProbe::rates_with(int64_t staging) const {
  plan::SwapRates rates = now().with_staging(staging);
  rates.staging_bytes = rates.least_staging_bytes = staging;
  return rates;
}

}  // namespace thimble::exec
