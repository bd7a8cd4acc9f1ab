#include "plan/swap/simulation.h"

#include <algorithm>
#include <limits>

#include "plan/transfer_ops.h"

namespace thimble::plan {

void TransferSimulation::begin(size_t slot, bool reads, int64_t bytes, int64_t deadline) {
  const double ms = reads ? costs_.read_ms(bytes) : costs_.write_ms(bytes);
  while (!waiting_.empty() && at_ < now_) run(now_);
  at_ = now_;
  waiting_.push_back({done_.size(), deadline, ms});
  if (slot >= begun_.size()) begun_.resize(slot + 1);
  begun_[slot].push_back(done_.size());
  done_.push_back(-1.0);
  (reads ? times_.read_bytes : times_.written_bytes) += bytes;
  times_.busy_ms += ms;
  ++times_.count;
}

void TransferSimulation::wait(size_t slot) {
  if (slot >= begun_.size()) return;
  for (const size_t which : begun_[slot]) {
    while (done_[which] < 0.0) run(std::numeric_limits<double>::infinity());
    times_.stall_ms += std::max(0.0, done_[which] - now_);
    now_ = std::max(now_, done_[which]);
  }
  begun_[slot].clear();
}

void TransferSimulation::run(double until) {
  const auto next =
      std::min_element(waiting_.begin(), waiting_.end(),
                       [](const Waiting& a, const Waiting& b) { return a.deadline < b.deadline; });
  const double ms = std::min(next->left_ms, until - at_);
  at_ += ms;
  next->left_ms -= ms;
  if (next->left_ms > 0.0) return;
  done_[next->which] = at_;
  waiting_.erase(next);
}

TransferTimes transfer_times(const ir::Graph& graph, const SwapCosts& costs) {
  TransferSimulation simulation(costs);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    if (!is_transfer(*node.op)) {
      simulation.compute(costs.node_ms[n]);
      continue;
    }
    const auto& attrs = node.attrs.as<SwapAttrs>();
    const auto slot = static_cast<size_t>(attrs.slot);
    if (waits_for_swap(*node.op)) {
      simulation.wait(slot);
      continue;
    }
    const bool reads = node.op == &swap_read_op();
    const ir::TensorType& type = graph.type(reads ? node.outputs[0] : node.input(0));
    simulation.begin(slot, reads, size_bytes(type.dtype, type.shape), attrs.deadline);
  }
  return simulation.times();
}

}  // namespace thimble::plan
