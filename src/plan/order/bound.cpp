#include <algorithm>

#include "plan/order/problem.h"

namespace thimble::plan {
namespace {

// With more nodes, the sets of predecessors and successors of every node would take too much
// memory.
constexpr int kMostNodes = 4096;

// One set of nodes for every node.
class Sets {
 public:
  explicit Sets(int nodes)
      : words_((static_cast<size_t>(nodes) + 63) / 64),
        bits_(words_ * static_cast<size_t>(nodes), 0) {
    for (int n = 0; n < nodes; ++n) of(n)[static_cast<size_t>(n) / 64] |= uint64_t{1} << (n % 64);
  }
  [[nodiscard]] std::span<uint64_t> of(int n) {
    return {bits_.data() + words_ * static_cast<size_t>(n), words_};
  }
  [[nodiscard]] std::span<const uint64_t> of(int n) const {
    return {bits_.data() + words_ * static_cast<size_t>(n), words_};
  }
  void unite(int n, int with) {
    for (size_t w = 0; w < words_; ++w) of(n)[w] |= of(with)[w];
  }
  [[nodiscard]] size_t words() const { return words_; }
  [[nodiscard]] bool has(int n, int member) const {
    return (of(n)[static_cast<size_t>(member) / 64] >> (member % 64) & 1U) != 0;
  }

 private:
  size_t words_;
  std::vector<uint64_t> bits_;
};

class Bound {
 public:
  explicit Bound(const OrderProblem& problem)
      : problem_(problem), before_(problem.size()), behind_(problem.size()) {
    const std::vector<int>& order = problem.natural();
    for (const int n : order) {
      for (const int next : problem.step(n).after) before_.unite(next, n);
    }
    for (size_t i = order.size(); i-- > 0;) {
      for (const int next : problem.step(order[i]).after) behind_.unite(order[i], next);
    }
  }

  [[nodiscard]] int64_t largest() const {
    std::vector<int64_t> live = crossing();
    int64_t largest = 0;
    for (int n = 0; n < problem_.size(); ++n) {
      const int64_t during = live[static_cast<size_t>(n)] + problem_.step(n).workspace - saved(n);
      largest = std::max(largest, during);
    }
    return largest;
  }

 private:
  // By node: bytes of its outputs and of items that are alive while it runs in every order.
  [[nodiscard]] std::vector<int64_t> crossing() const {
    std::vector<int64_t> live(static_cast<size_t>(problem_.size()), 0);
    std::vector<uint64_t> across(before_.words());
    for (const OrderProblem::Item& item : problem_.items()) {
      if (item.readers.empty() && !item.kept) {
        if (item.producer >= 0) live[static_cast<size_t>(item.producer)] += item.bytes;
        continue;
      }
      std::fill(across.begin(), across.end(), item.kept ? ~uint64_t{0} : 0);
      for (const int reader : item.readers) {
        for (size_t w = 0; w < across.size(); ++w) across[w] |= before_.of(reader)[w];
      }
      if (item.producer >= 0) {
        for (size_t w = 0; w < across.size(); ++w) across[w] &= behind_.of(item.producer)[w];
      }
      for (int n = 0; n < problem_.size(); ++n) {
        if ((across[static_cast<size_t>(n) / 64] >> (n % 64) & 1U) != 0) {
          live[static_cast<size_t>(n)] += item.bytes;
        }
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
                       [&](int reader) { return reader == n || !behind_.has(n, reader); });
  }

  const OrderProblem& problem_;
  Sets before_;  // with the node itself
  Sets behind_;  // likewise
};

}  // namespace

int64_t order_bound(const OrderProblem& problem) {
  int64_t kept = 0;
  for (const OrderProblem::Item& item : problem.items()) kept += item.kept ? item.bytes : 0;
  if (problem.size() > kMostNodes) return kept;
  return std::max(problem.size() == 0 ? 0 : kept, Bound(problem).largest());
}

}  // namespace thimble::plan
