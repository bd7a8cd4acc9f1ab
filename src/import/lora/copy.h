// A graph made from another one, node by node.
#pragma once

#include <thimble/graph.h>

#include <utility>
#include <vector>

#include "ir/graph.h"

namespace thimble::importer::lora {

// Copies a graph node by node.
class Copy {
 public:
  explicit Copy(const ir::Graph& from)
      : from_(from), to_(made_.ir()), ids_(from.values.size(), -1) {
    to_.layers = from.layers;
  }

  [[nodiscard]] Graph& made() { return made_; }
  [[nodiscard]] ir::Graph& to() { return to_; }
  [[nodiscard]] Value map(int id) { return to_.value(id < 0 ? -1 : ids_[static_cast<size_t>(id)]); }
  void set(int id, Value value) { ids_[static_cast<size_t>(id)] = value.id(); }

  void source(int id) { set(id, to_.copy_source(from_.data(id))); }
  void node(const ir::Node& node) {
    to_.reopen_layer(node.layer);
    std::vector<Value> inputs;
    for (const int id : node.inputs) inputs.push_back(map(id));
    const std::vector<Value> outputs = to_.add(*node.op, node.attrs, inputs);
    to_.end_layer();
    for (size_t i = 0; i < node.outputs.size(); ++i) set(node.outputs[i], outputs[i]);
  }
  [[nodiscard]] Graph finish() && {
    for (const auto& [name, id] : from_.outputs) to_.outputs.emplace_back(name, map(id).id());
    for (const auto& [name, id] : from_.metrics) to_.metrics.emplace_back(name, map(id).id());
    if (from_.loss) to_.loss = map(*from_.loss).id();
    return std::move(made_);
  }

 private:
  const ir::Graph& from_;
  Graph made_;
  ir::Graph& to_;
  std::vector<int> ids_;  // by old value
};

}  // namespace thimble::importer::lora
