#include "plan/swap/rates.h"

#include <algorithm>
#include <utility>

namespace thimble::plan {
namespace {

// 0 with full staging, 1 with the least.
double scarcity(const SwapRates& rates, int64_t staging) {
  const int64_t least = rates.least_staging_bytes;
  if (least <= 0 || staging >= rates.staging_bytes) return 0.0;
  const auto inverse = [](int64_t bytes) { return 1.0 / static_cast<double>(bytes); };
  const double of_all = inverse(rates.staging_bytes);
  return (inverse(staging) - of_all) / (inverse(least) - of_all);
}

}  // namespace

SwapRates SwapRates::with_staging(int64_t bytes) const {
  const double factor = 1.0 + (least_staging_factor - 1.0) * scarcity(*this, bytes);
  SwapRates rates = *this;
  rates.read_ms_per_byte *= factor;
  rates.write_ms_per_byte *= factor;
  return rates;
}

void SwapRates::scale(double factor, int64_t bytes) {
  if (scarcity(*this, bytes) == 1.0) {
    least_staging_factor *= factor;
    return;
  }
  read_ms_per_byte *= factor;
  write_ms_per_byte *= factor;
  transfer_ms *= factor;
}

SwapCosts SwapRates::costs(std::vector<double> node_ms) const {
  return {.node_ms = std::move(node_ms),
          .read_ms_per_byte = read_ms_per_byte,
          .write_ms_per_byte = write_ms_per_byte,
          .transfer_ms = transfer_ms};
}

int64_t SwapRates::staging_within(int64_t bytes) const {
  const int64_t most = std::max<int64_t>(staging_bytes - least_staging_bytes, 0);
  const int64_t more = std::clamp<int64_t>(bytes, 0, most);
  return least_staging_bytes + more / staging_step_bytes * staging_step_bytes;
}

}  // namespace thimble::plan
