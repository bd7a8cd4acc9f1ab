#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "plan/swap/swap.h"
#include "plan/transfer_ops.h"

namespace thimble::plan {
namespace {

// The queue of exec::SwapFile: it always runs the most urgent transfer.
class Queue {
 public:
  explicit Queue(size_t transfers) : done_(transfers, -1.0) {}

  void add(size_t which, int64_t deadline, double ms, double now) {
    while (!waiting_.empty() && at_ < now) run(now);
    at_ = now;
    waiting_.push_back({which, deadline, ms});
  }
  // End of an added transfer, if no more are added before that.
  [[nodiscard]] double done(size_t which) {
    while (done_[which] < 0.0) run(std::numeric_limits<double>::infinity());
    return done_[which];
  }

 private:
  struct Waiting {
    size_t which;
    int64_t deadline;
    double left_ms;
  };
  // Runs the most urgent transfer until it ends, or up to the given time.
  void run(double until) {
    const auto next = std::min_element(
        waiting_.begin(), waiting_.end(),
        [](const Waiting& a, const Waiting& b) { return a.deadline < b.deadline; });
    const double ms = std::min(next->left_ms, until - at_);
    at_ += ms;
    next->left_ms -= ms;
    if (next->left_ms > 0.0) return;
    done_[next->which] = at_;
    waiting_.erase(next);
  }

  std::vector<Waiting> waiting_;  // in the order they were added
  std::vector<double> done_;      // negative: not yet
  double at_ = 0.0;               // time up to which the queue was simulated
};

}  // namespace

TransferTimes transfer_times(const ir::Graph& graph, const SwapCosts& costs) {
  TransferTimes times;
  Queue queue(graph.nodes.size());
  double now = 0.0;
  std::map<int64_t, std::vector<size_t>> begun;  // by slot: transfers not waited for yet
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    if (!is_transfer(*node.op)) {
      now += costs.node_ms[n];
      continue;
    }
    const auto& attrs = node.attrs.as<SwapAttrs>();
    std::vector<size_t>& of_slot = begun[attrs.slot];
    if (waits_for_swap(*node.op)) {
      for (const size_t which : of_slot) {
        const double done = queue.done(which);
        times.stall_ms += std::max(0.0, done - now);
        now = std::max(now, done);
      }
      of_slot.clear();
      continue;
    }
    of_slot.push_back(n);
    const bool reads = node.op == &swap_read_op();
    const ir::TensorType& type = graph.type(reads ? node.outputs[0] : node.input(0));
    const int64_t bytes = size_bytes(type.dtype, type.shape);
    const double ms = reads ? costs.read_ms(bytes) : costs.write_ms(bytes);
    queue.add(n, attrs.deadline, ms, now);
    (reads ? times.read_bytes : times.written_bytes) += bytes;
    times.busy_ms += ms;
    ++times.count;
  }
  return times;
}

}  // namespace thimble::plan
