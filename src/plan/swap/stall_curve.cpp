#include "plan/swap/stall_curve.h"

#include <algorithm>

#include "plan/transfer_ops.h"

namespace thimble::plan {
namespace {

// Divisor used instead of zero.
constexpr double kLeastMs = 1e-9;

double ratio(double ms, double of_ms) { return ms / std::max(of_ms, kLeastMs); }

}  // namespace

StallCurve::StallCurve(const ir::Graph& graph, SwapCosts costs, const Taken& taken)
    : taken_(taken) {
  double nodes_ms = 0.0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!is_transfer(*graph.nodes[n].op)) nodes_ms += costs.node_ms[n];
  }
  for (double& ms : costs.node_ms) ms *= ratio(taken.computing_ms, nodes_ms);
  costs.scale_file(ratio(taken.busy_ms, transfer_times(graph, costs).busy_ms));
  const auto simulated_ms = [&](double slower) {
    SwapCosts other = costs;
    other.scale_file(slower);
    return transfer_times(graph, other).stall_ms;
  };
  for (int i = 0; i <= kParts; ++i) {
    stall_ms_[static_cast<size_t>(i)] = simulated_ms(kSlowest * i / kParts);
  }
  lacking_share_ = ratio(taken.stall_ms - simulated_ms(1.0), taken.busy_ms);
}

double StallCurve::stall_ms(double computing_ms, double busy_ms) const {
  // If everything takes longer by a factor, so does the wait.
  const double scale = std::max(ratio(computing_ms, taken_.computing_ms), kLeastMs);
  const double at = ratio(busy_ms, taken_.busy_ms) / scale * (kParts / kSlowest);
  const auto i = static_cast<size_t>(std::min(at, kParts - 1.0));
  const double along = at - static_cast<double>(i);
  const double simulated_ms = stall_ms_[i] + along * (stall_ms_[i + 1] - stall_ms_[i]);
  return std::clamp(scale * simulated_ms + lacking_share_ * busy_ms, 0.0, busy_ms);
}

}  // namespace thimble::plan
