// Measured and estimated run times of nodes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::plan {

// Run times by op, attributes and types. Equal nodes take equally long wherever they stand: the
// mean of the measurements.
class NodeTimes {
 public:
  // Rates for nodes that were not measured; the defaults are nominal.
  explicit NodeTimes(double ms_per_flop = 2e-8, double ms_per_byte = 1e-7)
      : ms_per_flop_(ms_per_flop), ms_per_byte_(ms_per_byte) {}

  // Which kernels run, where nothing was measured. Reference kernels, unlike fast ones, perform
  // every operation of the formula. Default: fast.
  void set_kernels(bool fast) { fast_ = fast; }

  // Records measured milliseconds of each node. Transfers are left out.
  void set(const ir::Graph& graph, const std::vector<double>& node_ms);
  // Milliseconds.
  [[nodiscard]] double of(const ir::Graph& graph, const ir::Node& node) const;
  // Equal texts mean equal times.
  [[nodiscard]] std::string text() const;
  // Milliseconds of all nodes.
  [[nodiscard]] double of(const ir::Graph& graph) const;

 private:
  double ms_per_flop_;
  double ms_per_byte_;
  bool fast_ = true;
  std::map<std::string, double> measured_;
};

}  // namespace thimble::plan
