// Measures how fast a swap file in a folder is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "exec/swap_file.h"
#include "plan/swap/rates.h"

namespace thimble::exec {

inline constexpr int64_t kMostStagingBuffer = int64_t{256} << 10;

// Rates measured when they are first asked for; nominal rates if that fails or there is no memory
// for it.
class SwapProbe final : public plan::SwapDevice {
 public:
  // smallest: the options of a file with the smallest staging buffers. free_bytes: returns the
  // memory that measuring may use.
  SwapProbe(std::string folder, const SwapOptions& smallest, std::function<int64_t()> free_bytes)
      : folder_(std::move(folder)), smallest_(smallest), free_bytes_(std::move(free_bytes)) {}

  // Staging buffers take a sixteenth of these bytes, within limits. is_nominal: nothing is
  // measured.
  void set_budget(int64_t bytes, bool is_nominal);

  [[nodiscard]] plan::SwapRates rates() override;
  // Rates of a file with that many bytes of staging buffers, as far as known.
  [[nodiscard]] plan::SwapRates rates_with(int64_t staging) const;
  // Rates without the part that depends on staging buffers; updated after a step was measured.
  [[nodiscard]] plan::SwapRates known() const { return known_.value_or(plan::SwapRates()); }
  void set(const plan::SwapRates& rates) { known_ = rates; }
  // Why measuring failed; empty: it did not.
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
