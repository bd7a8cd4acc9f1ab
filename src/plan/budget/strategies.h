// The table of strategies: bytes saved and cost of each.
#pragma once

#include <thimble/plan.h>

#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/budget/rehearsal.h"
#include "plan/node_times.h"

namespace thimble::plan {

// The peak of a step in which no two values share memory.
[[nodiscard]] int64_t unshared_bytes(const ir::Graph& graph, const ArenaOptions& options);

// Replaces predicted times by those of the rehearsal.
void predict_as_rehearsed(Plan& plan, const Rehearsal& rehearsal);

// Collects strategies in the order in which they are applied.
class Strategies {
 public:
  Strategies(const ArenaOptions& options, const NodeTimes& times)
      : options_(options), times_(times) {}

  // The first rows, of the graph before any strategy: own memory for every value, reuse, in place.
  void start(const ir::Graph& graph);
  // Adds a row for the graph after a strategy. Adds none if the peak did not change.
  void add(const std::string& name, const ir::Graph& graph);
  // The same for a lossy strategy; adds a row even if the peak did not change.
  void add_lossy(const std::string& name, const ir::Graph& graph);
  // The final plan, of the graph before with transfers.
  void add_swap(const Plan& plan, int64_t values, double stall_ms);

  [[nodiscard]] std::vector<PlanStrategy> finish() && { return std::move(list_); }

 private:
  PlanStrategy& row(const std::string& name, int64_t left_bytes);

  ArenaOptions options_;
  const NodeTimes& times_;
  std::vector<PlanStrategy> list_;
  std::set<std::string> recomputed_;  // names of the values recomputed so far
  double ms_ = 0.0;
};

}  // namespace thimble::plan
