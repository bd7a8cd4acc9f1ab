// How long the nodes of a step run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::plan {

// Times by what a node computes: equal ops on equal types take equally long wherever they stand,
// the mean of what was measured.
class NodeTimes {
 public:
  // Of nodes that were not measured. Nominal where nobody knows the machine.
  explicit NodeTimes(double ms_per_flop = 2e-8, double ms_per_byte = 1e-7)
      : ms_per_flop_(ms_per_flop), ms_per_byte_(ms_per_byte) {}

  // Milliseconds of each node, as measured; transfers are left out.
  void set(const ir::Graph& graph, const std::vector<double>& node_ms);
  // Milliseconds.
  [[nodiscard]] double of(const ir::Graph& graph, const ir::Node& node) const;
  // Equal texts mean equal times.
  [[nodiscard]] std::string text() const;
  // Of all nodes.
  [[nodiscard]] double of(const ir::Graph& graph) const;

 private:
  double ms_per_flop_;
  double ms_per_byte_;
  std::map<std::string, double> measured_;
};

}  // namespace thimble::plan
