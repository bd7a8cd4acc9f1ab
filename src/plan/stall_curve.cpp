#include "plan/stall_curve.h"

#include <algorithm>

#include "plan/swap_ops.h"
#include "plan/swap_times.h"

namespace thimble::plan {

StallCurve::StallCurve(const ir::Graph& graph, const SwapCosts& costs, double busy_ms,
                       double stall_ms)
    : busy_ms_(busy_ms) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!is_transfer(*graph.nodes[n].op)) computing_ms_ += costs.node_ms[n];
  }
  const double accounted_ms = std::max(transfer_times(graph, costs).busy_ms, kNone);
  const auto slowed = [&](double factor) {
    SwapCosts other = costs;
    other.scale_file(factor * busy_ms / accounted_ms);
    return transfer_times(graph, other).stall_ms;
  };
  for (int i = 0; i <= kParts; ++i) {
    stall_ms_[static_cast<size_t>(i)] = slowed(kSlowest * i / kParts);
  }
  besides_ms_ = stall_ms - slowed(1.0);
}

double StallCurve::stall_ms(double computing_ms, double busy_ms) const {
  // Where all takes that many times as long, so do waits.
  const double scale = std::max(computing_ms, kNone) / computing_ms_;
  const double at = busy_ms / std::max(busy_ms_ * scale, kNone) * (kParts / kSlowest);
  const auto i = static_cast<size_t>(std::min(at, kParts - 1.0));
  const double along = at - static_cast<double>(i);
  const double stall_ms = stall_ms_[i] + along * (stall_ms_[i + 1] - stall_ms_[i]) + besides_ms_;
  return std::clamp(scale * stall_ms, 0.0, busy_ms);
}

}  // namespace thimble::plan
