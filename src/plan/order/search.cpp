#include "plan/order/search.h"

#include <algorithm>
#include <unordered_set>

namespace thimble::plan {
namespace {

// Longest chain that is looked at.
constexpr size_t kLongestChain = 8;

// Runs nodes within a limit.
class Runner {
 public:
  Runner(const OrderProblem& problem, int64_t limit, int64_t& work)
      : problem_(problem), limit_(limit), work_(work) {}

  [[nodiscard]] bool fits(const OrderRun& run, const OrderRun::Cost& cost) const {
    return run.live() + cost.during <= limit_;
  }

  // Runs all nodes and chains that can run without loss.
  void run_what_is_free(OrderRun& run) const {
    while (work_ >= 0 && (run_free_node(run) || run_free_chain(run))) {
    }
  }

 private:
  bool run_free_node(OrderRun& run) const {
    for (const int node : run.ready()) {
      const OrderRun::Cost cost = run.cost(node);
      if (cost.after > 0 || !fits(run, cost)) continue;
      run.run(node);
      --work_;
      return true;
    }
    return false;
  }

  bool run_free_chain(OrderRun& run) const {
    for (size_t i = 0; i < run.ready().size(); ++i) {
      if (run_chain(run, run.ready()[i])) return true;
    }
    return false;
  }

  bool run_chain(OrderRun& run, int node) const {
    const size_t before = run.order().size();
    const int64_t live = run.live();
    while (node >= 0 && run.order().size() < before + kLongestChain) {
      if (!fits(run, run.cost(node))) break;
      run.run(node);
      --work_;
      if (run.live() <= live) return true;
      node = smallest_change(run, problem_.step(node).after);  // of those that waited only for it
    }
    while (run.order().size() > before) run.undo();
    return false;
  }

  const OrderProblem& problem_;
  int64_t limit_;
  int64_t& work_;
};

// A set of nodes, and the nodes that the search tries next.
struct Branch {
  size_t ran;                // number of nodes that had run
  uint64_t key;              // of the set
  std::vector<int> choices;  // the best last
};

std::vector<int> choices_of(const OrderRun& run, const Runner& runner) {
  std::vector<std::pair<int64_t, int>> ranked;
  for (const int node : run.ready()) {
    const OrderRun::Cost cost = run.cost(node);
    if (runner.fits(run, cost)) ranked.emplace_back(cost.after, node);
  }
  std::sort(ranked.rbegin(), ranked.rend());
  std::vector<int> choices;
  for (const auto& [after, node] : ranked) choices.push_back(node);
  return choices;
}

}  // namespace

int smallest_change(const OrderRun& run, std::span<const int> nodes) {
  int best = -1;
  int64_t least = 0;
  for (const int node : nodes) {
    if (!run.is_ready(node)) continue;
    const int64_t after = run.cost(node).after;
    if (best >= 0 && after >= least) continue;
    best = node;
    least = after;
  }
  return best;
}

OrderResult search_order(const OrderProblem& problem, int64_t limit, int64_t& work) {
  const Runner runner(problem, limit, work);
  OrderRun run(problem);
  std::unordered_set<uint64_t> hopeless;
  std::vector<Branch> branches;
  bool forward = true;  // false: this set is known to be hopeless
  for (;;) {
    if (forward) {
      runner.run_what_is_free(run);
      if (work < 0) return {OrderOutcome::gave_up, {}};
      if (run.done()) return {OrderOutcome::found, run.order()};
      forward = hopeless.count(run.key()) == 0;
      if (forward) branches.push_back({run.order().size(), run.key(), choices_of(run, runner)});
    }
    if (branches.empty()) return {OrderOutcome::impossible, {}};
    Branch& branch = branches.back();
    while (run.order().size() > branch.ran) run.undo();
    forward = !branch.choices.empty();
    if (forward) {
      run.run(branch.choices.back());
      --work;
      branch.choices.pop_back();
    } else {
      hopeless.insert(branch.key);
      branches.pop_back();
    }
  }
}

}  // namespace thimble::plan
