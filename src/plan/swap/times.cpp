#include "plan/swap/times.h"

#include <algorithm>
#include <limits>
#include <map>

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

// A step that computes, begins transfers and waits for them, one after the other.
class Simulation {
 public:
  explicit Simulation(size_t transfers) : queue_(transfers) {}

  void compute(double ms) { now_ += ms; }
  void read(size_t which, int64_t bytes, int64_t deadline, double ms) {
    times_.read_bytes += bytes;
    begin(which, deadline, ms);
  }
  void write(size_t which, int64_t bytes, int64_t deadline, double ms) {
    times_.written_bytes += bytes;
    begin(which, deadline, ms);
  }
  void wait(size_t which) {
    const double done = queue_.done(which);
    times_.stall_ms += std::max(0.0, done - now_);
    now_ = std::max(now_, done);
  }

  [[nodiscard]] const TransferTimes& times() const { return times_; }

 private:
  void begin(size_t which, int64_t deadline, double ms) {
    queue_.add(which, deadline, ms, now_);
    times_.busy_ms += ms;
    ++times_.count;
  }

  Queue queue_;
  TransferTimes times_;
  double now_ = 0.0;
};

}  // namespace

TransferTimes transfer_times(const std::vector<SwapItem>& items,
                             const std::vector<Residency>& residencies, const SwapCosts& costs) {
  const auto steps = static_cast<int>(costs.node_ms.size());
  const std::vector<size_t> writes = writes_of(residencies);
  const auto bytes = [&](size_t i) {
    return items[static_cast<size_t>(residencies[i].item)].bytes;
  };
  Simulation step(2 * residencies.size());
  for (int t = -1; t < steps; ++t) {
    if (t >= 0) {
      for (size_t i = 0; i < residencies.size(); ++i) {
        if (!residencies[i].fetched || residencies[i].read_at != t) continue;
        step.read(2 * i, bytes(i), residencies[i].read_deadline(), costs.read_ms(bytes(i)));
      }
      for (size_t i = 0; i < residencies.size(); ++i) {
        if (residencies[i].fetched && residencies[i].first == t) step.wait(2 * i);
      }
      step.compute(costs.node_ms[static_cast<size_t>(t)]);
    }
    for (const size_t i : writes) {
      if (residencies[i].last != t) continue;
      step.write(2 * i + 1, bytes(i), residencies[i].write_deadline(), costs.write_ms(bytes(i)));
    }
    for (const size_t i : writes) {
      if (residencies[i].written_at == t) step.wait(2 * i + 1);
    }
  }
  return step.times();
}

TransferTimes transfer_times(const ir::Graph& graph, const SwapCosts& costs) {
  Simulation step(graph.nodes.size());
  std::map<int64_t, std::vector<size_t>> begun;  // by slot: transfers not waited for yet
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    if (!is_transfer(*node.op)) {
      step.compute(costs.node_ms[n]);
      continue;
    }
    const auto& attrs = node.attrs.as<SwapAttrs>();
    std::vector<size_t>& of_slot = begun[attrs.slot];
    if (waits_for_swap(*node.op)) {
      for (const size_t which : of_slot) step.wait(which);
      of_slot.clear();
      continue;
    }
    of_slot.push_back(n);
    const bool reads = node.op == &swap_read_op();
    const ir::TensorType& type = graph.type(reads ? node.outputs[0] : node.input(0));
    const int64_t bytes = size_bytes(type.dtype, type.shape);
    if (reads) {
      step.read(n, bytes, attrs.deadline, costs.read_ms(bytes));
    } else {
      step.write(n, bytes, attrs.deadline, costs.write_ms(bytes));
    }
  }
  return step.times();
}

}  // namespace thimble::plan
