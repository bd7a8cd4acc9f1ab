// How fast the disk of a folder takes a swap file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "exec/swap_file.h"
#include "plan/swap/rates.h"

namespace thimble::exec {

inline constexpr int64_t kMostStagingBuffer = int64_t{256} << 10;

// Rates that are measured when they are first asked for; nominal where that fails or has no memory.
class SwapProbe final : public plan::SwapDevice {
 public:
  // smallest: a file with the least staging. free_bytes: memory that measuring may take.
  SwapProbe(std::string folder, const SwapOptions& smallest, std::function<int64_t()> free_bytes)
      : folder_(std::move(folder)), smallest_(smallest), free_bytes_(std::move(free_bytes)) {}

  // Staging takes a sixteenth of these bytes, within reason. is_nominal: nothing is measured.
  void set_budget(int64_t bytes, bool is_nominal);

  [[nodiscard]] plan::SwapRates rates() override;
  // Of a file with so much staging, as far as they are known.
  [[nodiscard]] plan::SwapRates rates_with(int64_t staging) const;
  // Without what depends on staging; to be set where a step was measured.
  [[nodiscard]] plan::SwapRates known() const { return known_.value_or(plan::SwapRates()); }
  void set(const plan::SwapRates& rates) { known_ = rates; }
  // Why nothing could be measured; empty: nothing failed.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  [[nodiscard]] plan::SwapRates measured(const SwapOptions& file);
  [[nodiscard]] plan::SwapRates now() const;

  std::string folder_;
  SwapOptions smallest_;
  std::function<int64_t()> free_bytes_;
  int64_t budget_bytes_ = 0;
  bool is_nominal_ = false;
  std::optional<plan::SwapRates> known_;
  std::string error_;
};

}  // namespace thimble::exec
