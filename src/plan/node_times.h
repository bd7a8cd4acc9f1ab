// How long the nodes of a step run.
#pragma once

#include <map>
#include <string>

#include "ir/graph.h"

namespace thimble::plan {

// Times by what a node computes: equal ops on equal types take equally long, wherever they stand.
class NodeTimes {
 public:
  // ms_per_operation: of what was not measured, by its work (work.h).
  explicit NodeTimes(double ms_per_operation = 2e-8) : ms_per_operation_(ms_per_operation) {}

  // Milliseconds.
  void set(const ir::Graph& graph, const ir::Node& node, double ms);
  [[nodiscard]] double of(const ir::Graph& graph, const ir::Node& node) const;
  // Of all nodes.
  [[nodiscard]] double of(const ir::Graph& graph) const;

 private:
  double ms_per_operation_;
  std::map<std::string, double> measured_;
};

}  // namespace thimble::plan
