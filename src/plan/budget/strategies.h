// The table of strategies: what each saved and costs.
#pragma once

#include <thimble/plan.h>

#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/node_times.h"

namespace thimble::plan {

// The peak of a step in which no two values share memory.
[[nodiscard]] int64_t unshared_bytes(const ir::Graph& graph, const ArenaOptions& options);

// Replaces the predicted times of a plan by those of its rehearsal: of the step, the busy swap
// file, and the wait for it.
void predict_as_rehearsed(Plan& plan, double step_ms, double busy_ms, double stall_ms);

// Collects strategies in the order in which they are applied.
class Strategies {
 public:
  Strategies(const ArenaOptions& options, const NodeTimes& times)
      : options_(options), times_(times) {}

  // A graph before anything is done: own memory for every value, then reuse, then in place.
  void start(const ir::Graph& graph);
  // What a strategy made of the graph before; nothing is added where it changed nothing.
  void add(const std::string& name, const ir::Graph& graph);
  // What it made by storing values less exactly; a row even where it changed nothing.
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
