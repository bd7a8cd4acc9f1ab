// Builds a graph from another one, node by node.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace thimble::ir {

// Copies a graph; passes decide for each node how it is rewritten.
class Rewriter {
 public:
  // Copies the layers and the sources (those the filter keeps).
  explicit Rewriter(const Graph& from, const std::function<bool(int id)>& keep_source = {});

  [[nodiscard]] Graph& graph() { return to_; }
  // The new value of an old one, whose producer must have been handled.
  [[nodiscard]] Value map(int old_id) { return to_.value(new_id(old_id)); }
  [[nodiscard]] int new_id(int old_id) const {
    return old_id < 0 ? -1 : ids_[static_cast<size_t>(old_id)];
  }

  // Copies a node as it is.
  void copy(const Node& node);
  // Copies a node with other attributes. If old_outputs is given, the copy computes these old
  // values.
  void copy_as(const Node& node, Attrs attrs, std::span<const int> old_outputs);
  // Replaces the outputs of an old node by the given new values.
  void replace(const Node& node, std::span<const Value> values);

  // The new graph with the loss, outputs and metrics of the old.
  [[nodiscard]] Graph finish() &&;

 private:
  const Graph& from_;
  Graph to_;
  std::vector<int> ids_;
};

}  // namespace thimble::ir
