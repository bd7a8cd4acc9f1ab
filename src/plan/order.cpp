#include "plan/order.h"

#include <algorithm>
#include <numeric>

#include "ir/rewrite.h"

namespace thimble::plan {
namespace {

// Which nodes must wait for which, beyond what the graph's own order says.
class Dependencies {
 public:
  explicit Dependencies(const ir::Graph& graph)
      : successors(graph.nodes.size()), waits(graph.nodes.size(), 0) {
    const auto readers = graph.consumers();
    const int loss_node = graph.loss ? graph.data(*graph.loss).producer : -1;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const ir::Node& node = graph.nodes[n];
      const int number = static_cast<int>(n);
      for (int id : node.inputs) {
        if (id >= 0) add(graph.data(id).producer, number);
      }
      for (const ir::Alias& update : node.op->updates) {
        const int id = node.input(update.in);
        if (id < 0) continue;
        for (int reader : readers[static_cast<size_t>(id)]) add(reader, number);
        add(loss_node, number);
      }
    }
    for (auto& list : successors) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      for (int next : list) ++waits[static_cast<size_t>(next)];
    }
  }

  std::vector<std::vector<int>> successors;
  std::vector<int> waits;  // nodes each must wait for

 private:
  void add(int before, int after) {
    if (before >= 0 && before != after) successors[static_cast<size_t>(before)].push_back(after);
  }
};

// Bytes alive while nodes run one after the other.
class LiveBytes {
 public:
  explicit LiveBytes(const ir::Graph& graph) : graph_(graph), left_(graph.values.size(), 0) {
    for (const ir::Node& node : graph.nodes) {
      for (int id : distinct(node.inputs)) ++left_[static_cast<size_t>(id)];
    }
    for (int id : graph.results()) ++left_[static_cast<size_t>(id)];
    for (size_t id = 0; id < graph.values.size(); ++id) {
      if (graph.values[id].producer < 0) live_ += bytes(static_cast<int>(id));
    }
    peak_ = live_;
  }

  // Bytes more (less if negative) after the node than before it.
  [[nodiscard]] int64_t change(const ir::Node& node) const {
    int64_t delta = 0;
    for (int id : node.outputs) {
      if (left_[static_cast<size_t>(id)] > 0) delta += bytes(id);
    }
    for (int id : distinct(node.inputs)) {
      if (left_[static_cast<size_t>(id)] == 1) delta -= bytes(id);
    }
    return delta;
  }

  void run(const ir::Node& node) {
    const int64_t delta = change(node);
    int64_t during = live_;
    for (int id : node.outputs) during += bytes(id);
    peak_ = std::max(peak_, during);
    for (int id : distinct(node.inputs)) --left_[static_cast<size_t>(id)];
    live_ += delta;
  }

  [[nodiscard]] int64_t peak() const { return peak_; }

 private:
  static std::vector<int> distinct(std::vector<int> ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    if (!ids.empty() && ids.front() < 0) ids.erase(ids.begin());
    return ids;
  }
  [[nodiscard]] int64_t bytes(int id) const {
    const ir::ValueData& data = graph_.data(id);
    return ir::is_persistent(data.role) ? 0 : size_bytes(data.type.dtype, data.type.shape);
  }

  const ir::Graph& graph_;
  std::vector<int> left_;  // readers still to come
  int64_t live_ = 0;
  int64_t peak_ = 0;
};

int64_t peak_of(const ir::Graph& graph, const std::vector<int>& order) {
  LiveBytes live(graph);
  for (int n : order) live.run(graph.nodes[static_cast<size_t>(n)]);
  return live.peak();
}

// Picks the next of the ready nodes (sorted); returns its index in the list.
using Choice = size_t (*)(const ir::Graph&, const LiveBytes&, const std::vector<int>& ready);

// The natural order, but a node that does not add to what is alive runs as soon as it can: a
// parameter's update right after its gradient.
size_t natural_but_eager(const ir::Graph& graph, const LiveBytes& live,
                         const std::vector<int>& ready) {
  for (size_t i = 0; i < ready.size(); ++i) {
    if (live.change(graph.nodes[static_cast<size_t>(ready[i])]) <= 0) return i;
  }
  return 0;
}

// Whatever leaves the least alive.
size_t smallest_change(const ir::Graph& graph, const LiveBytes& live,
                       const std::vector<int>& ready) {
  size_t best = 0;
  for (size_t i = 1; i < ready.size(); ++i) {
    if (live.change(graph.nodes[static_cast<size_t>(ready[i])]) <
        live.change(graph.nodes[static_cast<size_t>(ready[best])])) {
      best = i;
    }
  }
  return best;
}

std::vector<int> list_schedule(const ir::Graph& graph, const Dependencies& dependencies,
                               Choice choose) {
  std::vector<int> waits = dependencies.waits;
  std::vector<int> ready;
  for (size_t n = 0; n < waits.size(); ++n) {
    if (waits[n] == 0) ready.push_back(static_cast<int>(n));
  }
  LiveBytes live(graph);
  std::vector<int> order;
  while (!ready.empty()) {
    const size_t index = choose(graph, live, ready);
    const int n = ready[index];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(index));
    live.run(graph.nodes[static_cast<size_t>(n)]);
    order.push_back(n);
    for (int next : dependencies.successors[static_cast<size_t>(n)]) {
      if (--waits[static_cast<size_t>(next)] == 0) {
        ready.insert(std::lower_bound(ready.begin(), ready.end(), next), next);
      }
    }
  }
  return order;
}

size_t first(const ir::Graph&, const LiveBytes&, const std::vector<int>&) { return 0; }

}  // namespace

int64_t live_peak_bytes(const ir::Graph& graph) {
  std::vector<int> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  return peak_of(graph, order);
}

ir::Graph order_nodes(const ir::Graph& graph) {
  const Dependencies dependencies(graph);
  std::vector<int> best;
  int64_t best_peak = 0;
  for (const Choice choice : {natural_but_eager, smallest_change, first}) {
    std::vector<int> order = list_schedule(graph, dependencies, choice);
    if (order.size() != graph.nodes.size()) {
      throw Error("order", "updates and their readers wait for each other in a circle");
    }
    const int64_t peak = peak_of(graph, order);
    if (best.empty() || peak < best_peak) {
      best = std::move(order);
      best_peak = peak;
    }
  }
  ir::Rewriter rewriter(graph);
  for (int n : best) rewriter.copy(graph.nodes[static_cast<size_t>(n)]);
  return std::move(rewriter).finish();
}

}  // namespace thimble::plan
