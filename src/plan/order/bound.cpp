#include <algorithm>

#include "plan/nth.h"
#include "plan/order/problem.h"

namespace thimble::plan {
namespace {

// With more nodes, the sets of predecessors and successors of every node would take too much
// memory.
constexpr int kMostNodes = 4096;

// A bit per node.
using NodeSet = std::vector<uint64_t>;

size_t words(int nodes) { return (static_cast<size_t>(nodes) + 63) / 64; }

bool has(const NodeSet& set, int node) {
  return (set[static_cast<size_t>(node) / 64] >> (node % 64) & 1U) != 0;
}

void unite(NodeSet& set, const NodeSet& with) {
  for (size_t w = 0; w < set.size(); ++w) set[w] |= with[w];
}

// By node: the set of that node.
std::vector<NodeSet> single_nodes(int nodes) {
  std::vector<NodeSet> sets(static_cast<size_t>(nodes), NodeSet(words(nodes), 0));
  for (size_t n = 0; n < sets.size(); ++n) sets[n][n / 64] = uint64_t{1} << (n % 64);
  return sets;
}

class Bound {
 public:
  explicit Bound(const OrderProblem& problem)
      : problem_(problem), before_(single_nodes(problem.size())), behind_(before_) {
    const std::vector<int>& order = problem.natural();
    for (const int n : order) {
      for (const int next : problem.step(n).after) unite(nth(before_, next), nth(before_, n));
    }
    for (size_t i = order.size(); i-- > 0;) {
      const int n = order[i];
      for (const int next : problem.step(n).after) unite(nth(behind_, n), nth(behind_, next));
    }
  }

  [[nodiscard]] int64_t largest() const {
    std::vector<int64_t> live = crossing();
    int64_t largest = 0;
    for (int n = 0; n < problem_.size(); ++n) {
      const int64_t during = nth(live, n) + problem_.step(n).workspace - saved(n);
      largest = std::max(largest, during);
    }
    return largest;
  }

 private:
  // By node: bytes of its outputs and of items that are alive while it runs in every order.
  [[nodiscard]] std::vector<int64_t> crossing() const {
    std::vector<int64_t> live(static_cast<size_t>(problem_.size()), 0);
    for (const OrderProblem::Item& item : problem_.items()) {
      if (item.readers.empty() && !item.kept) {
        if (item.producer >= 0) nth(live, item.producer) += item.bytes;
        continue;
      }
      NodeSet across(words(problem_.size()), item.kept ? ~uint64_t{0} : 0);
      for (const int reader : item.readers) unite(across, nth(before_, reader));
      for (int n = 0; n < problem_.size(); ++n) {
        const bool made = item.producer < 0 || has(nth(behind_, item.producer), n);
        if (made && has(across, n)) nth(live, n) += item.bytes;
      }
    }
    return live;
  }

  // The most bytes that a node may write over its inputs.
  [[nodiscard]] int64_t saved(int n) const {
    int64_t bytes = 0;
    for (const int made : problem_.step(n).makes) {
      for (const OrderProblem::Takeover& takeover : problem_.step(n).takeovers) {
        if (takeover.made != made || !may_die_with(takeover.read, n)) continue;
        bytes += problem_.item(made).bytes;
        break;
      }
    }
    return bytes;
  }

  [[nodiscard]] bool may_die_with(int item, int n) const {
    if (problem_.item(item).kept) return false;
    const std::vector<int>& readers = problem_.item(item).readers;
    return std::all_of(readers.begin(), readers.end(),
                       [&](int reader) { return reader == n || !has(nth(behind_, n), reader); });
  }

  const OrderProblem& problem_;
  std::vector<NodeSet> before_;  // by node: those that run before it in every order, and itself
  std::vector<NodeSet> behind_;  // likewise: behind it
};

}  // namespace

int64_t order_bound(const OrderProblem& problem) {
  int64_t kept = 0;
  for (const OrderProblem::Item& item : problem.items()) kept += item.kept ? item.bytes : 0;
  if (problem.size() > kMostNodes) return kept;
  return std::max(problem.size() == 0 ? 0 : kept, Bound(problem).largest());
}

}  // namespace thimble::plan
