// Measures how fast a swap file in a folder is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "exec/swap_file.h"
#include "plan/budget/training_programs.h"

namespace thimble::exec {

// Rates measured when they are first asked for; nominal rates if that fails or there is no memory
// for it.
class SwapProbe final : public plan::MeasuredSwapDevice {
 public:
  // smallest: the options of a file with the smallest staging buffers. held_bytes: returns the
  // part of the budget that is taken, which measuring may not use.
  SwapProbe(std::string folder, const SwapOptions& smallest, std::function<int64_t()> held_bytes)
      : folder_(std::move(folder)), smallest_(smallest), held_bytes_(std::move(held_bytes)) {}

  // Staging buffers take a sixteenth of these bytes, within limits.
  void set_budget(int64_t bytes, bool is_nominal) override;

  [[nodiscard]] plan::SwapRates rates() override;
  [[nodiscard]] plan::SwapRates rates_with(int64_t staging) const override;
  [[nodiscard]] plan::SwapRates known() const override {
    return known_.value_or(plan::SwapRates());
  }
  void set(const plan::SwapRates& rates) override { known_ = rates; }
  [[nodiscard]] int64_t least_staging_bytes() const override;
  [[nodiscard]] int64_t most_staging_bytes() const override;
  [[nodiscard]] std::string why_not(int64_t bytes) const override;

 private:
  [[nodiscard]] plan::SwapRates measured(const SwapOptions& file);
  [[nodiscard]] plan::SwapRates now() const;

  std::string folder_;
  SwapOptions smallest_;
  std::function<int64_t()> held_bytes_;
  int64_t budget_bytes_ = 0;
  bool is_nominal_ = false;
  std::optional<plan::SwapRates> known_;
  std::string error_;
};

}  // namespace thimble::exec
