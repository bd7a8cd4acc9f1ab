#include "plan/swap_times.h"

#include <algorithm>
#include <limits>
#include <map>

#include "plan/swap_ops.h"

namespace thimble::plan {
namespace {

// The transfers of a step, as exec::SwapFile takes them: always the most urgent one.
class Queue {
 public:
  explicit Queue(size_t transfers) : done_(transfers, -1.0) {}

  void add(size_t which, int64_t deadline, double ms, double now) {
    while (!waiting_.empty() && at_ < now) run(now);
    at_ = now;
    waiting_.push_back({which, deadline, ms});
  }
  // When a transfer has ended, if no more is added before that. It must have been added.
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
  // The most urgent one, until it has ended, or that long.
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
  double at_ = 0.0;               // up to when it is known what the file does
};

}  // namespace

TransferTimes transfer_times(const std::vector<SwapItem>& items, const std::vector<Stay>& stays,
                             const SwapCosts& costs) {
  TransferTimes times;
  const auto steps = static_cast<int>(costs.node_ms.size());
  const std::vector<size_t> writes = writes_of(stays);
  double now = 0.0;
  Queue queue(2 * stays.size());
  const auto begin = [&](size_t which, bool read) {
    const Stay& stay = stays[which / 2];
    const int64_t bytes = items[static_cast<size_t>(stay.item)].bytes;
    const double ms = read ? costs.read_ms(bytes) : costs.write_ms(bytes);
    queue.add(which, read ? stay.read_deadline() : stay.write_deadline(), ms, now);
    times.busy_ms += ms;
    ++times.count;
    (read ? times.read_bytes : times.written_bytes) += bytes;
  };
  const auto wait = [&](size_t which) {
    const double done = queue.done(which);
    times.stall_ms += std::max(0.0, done - now);
    now = std::max(now, done);
  };
  for (int t = -1; t < steps; ++t) {
    if (t >= 0) {
      for (size_t i = 0; i < stays.size(); ++i) {
        if (stays[i].fetched && stays[i].read_at == t) begin(2 * i, true);
      }
      for (size_t i = 0; i < stays.size(); ++i) {
        if (stays[i].fetched && stays[i].first == t) wait(2 * i);
      }
      now += costs.node_ms[static_cast<size_t>(t)];
    }
    for (const size_t i : writes) {
      if (stays[i].last == t) begin(2 * i + 1, false);
    }
    for (const size_t i : writes) {
      if (stays[i].written_at == t) wait(2 * i + 1);
    }
  }
  return times;
}

TransferTimes transfer_times(const ir::Graph& graph, const SwapCosts& costs) {
  TransferTimes times;
  double now = 0.0;
  Queue queue(graph.nodes.size());
  std::map<int64_t, std::vector<size_t>> of_slot;  // begun, and not waited for
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    if (!is_transfer(*node.op)) {
      now += costs.node_ms[n];
      continue;
    }
    const auto& attrs = node.attrs.as<SwapAttrs>();
    std::vector<size_t>& begun = of_slot[attrs.slot];
    if (waits_for_swap(*node.op)) {
      for (const size_t which : begun) {
        const double done = queue.done(which);
        times.stall_ms += std::max(0.0, done - now);
        now = std::max(now, done);
      }
      begun.clear();
      continue;
    }
    const bool reads = node.op == &swap_read_op();
    const ir::TensorType& type = graph.type(reads ? node.outputs[0] : node.input(0));
    const int64_t bytes = size_bytes(type.dtype, type.shape);
    const double ms = reads ? costs.read_ms(bytes) : costs.write_ms(bytes);
    queue.add(n, attrs.deadline, ms, now);
    begun.push_back(n);
    times.busy_ms += ms;
    ++times.count;
    (reads ? times.read_bytes : times.written_bytes) += bytes;
  }
  return times;
}

}  // namespace thimble::plan
