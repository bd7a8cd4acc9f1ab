#include "ir/rewrite.h"

namespace thimble::ir {

Rewriter::Rewriter(const Graph& from, const std::function<bool(int id)>& keep_source)
    : from_(from), ids_(from.values.size(), -1) {
  to_.layers = from.layers;
  for (size_t id = 0; id < from.values.size(); ++id) {
    const ValueData& data = from.values[id];
    if (data.producer >= 0 || (keep_source && !keep_source(static_cast<int>(id)))) continue;
    ids_[id] = to_.copy_source(data).id();
  }
}

void Rewriter::copy(const Node& node) { copy_as(node, node.attrs, node.outputs); }

void Rewriter::copy_as(const Node& node, Attrs attrs, std::span<const int> old_outputs) {
  Node copy = node;
  copy.attrs = std::move(attrs);
  for (int& input : copy.inputs) input = new_id(input);
  copy.outputs.clear();
  const int node_id = static_cast<int>(to_.nodes.size());
  for (int old : old_outputs) {
    ValueData data = from_.data(old);
    data.producer = node_id;
    ids_[static_cast<size_t>(old)] = static_cast<int>(to_.values.size());
    copy.outputs.push_back(static_cast<int>(to_.values.size()));
    to_.values.push_back(std::move(data));
  }
  to_.nodes.push_back(std::move(copy));
}

void Rewriter::replace(const Node& node, std::span<const Value> values) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    ids_[static_cast<size_t>(node.outputs[i])] = values[i].id();
  }
}

Graph Rewriter::finish() && {
  if (from_.loss) to_.loss = new_id(*from_.loss);
  for (const auto& [name, id] : from_.outputs) to_.outputs.emplace_back(name, new_id(id));
  for (const auto& [name, id] : from_.metrics) to_.metrics.emplace_back(name, new_id(id));
  return std::move(to_);
}

}  // namespace thimble::ir
