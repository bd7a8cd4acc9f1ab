#include <algorithm>

#include "autodiff/type_change.h"
#include "passes/passes.h"

namespace thimble::passes {
namespace {

bool is_of_batch(const Shape& shape) {
  return shape.rank() > 0 && shape[0] != 0 && shape[0] % kBatch == 0;
}

// By value: whether numbers of it only lead to whole numbers, as a random number that is rounded to
// an index does. Their arithmetic stays in f32: in 16 bits 0.999 * 1000 is 1000.
std::vector<char> lead_to_integers(const ir::Graph& graph) {
  std::vector<char> leads(graph.values.size());
  // By value: whether a reader gives other numbers, or the graph gives the value out.
  std::vector<char> stays(graph.values.size());
  if (graph.loss) stays[static_cast<size_t>(*graph.loss)] = 1;
  for (const auto& [name, id] : graph.outputs) stays[static_cast<size_t>(id)] = 1;
  for (const auto& [name, id] : graph.metrics) stays[static_cast<size_t>(id)] = 1;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool gives_integers =
        std::all_of(node->outputs.begin(), node->outputs.end(), [&](int id) {
          return !is_floating(graph.type(id).dtype) || leads[static_cast<size_t>(id)] != 0;
        });
    for (const int id : node->inputs) {
      if (id < 0) continue;
      const auto at = static_cast<size_t>(id);
      if (!gives_integers) stays[at] = 1;
      leads[at] = stays[at] == 0 ? 1 : 0;
    }
  }
  return leads;
}

class Narrowing {
 public:
  Narrowing(const ir::Graph& from, DType narrow)
      : from_(from),
        narrow_(narrow),
        ids_(from.values.size(), -1),
        wide_ids_(from.values.size(), -1),
        labelled_(from.values.size()),
        leads_to_integers_(lead_to_integers(from)) {
    to_.layers = from.layers;
  }

  ir::Graph run() {
    to_.reopen_layer(-1);  // casts of inputs and results belong to no layer
    for (size_t id = 0; id < from_.values.size(); ++id) {
      if (from_.values[id].producer < 0) add_source(static_cast<int>(id));
    }
    to_.end_layer();
    for (const ir::Node& node : from_.nodes) add_node(node);
    to_.reopen_layer(-1);
    const auto wide = [this](int id) {
      return autodiff::with_type(to_, new_value(id), DType::f32).id();
    };
    if (from_.loss) to_.loss = wide(*from_.loss);
    for (const auto& [name, id] : from_.outputs) to_.outputs.emplace_back(name, as_before(id));
    for (const auto& [name, id] : from_.metrics) to_.metrics.emplace_back(name, as_before(id));
    to_.end_layer();
    return std::move(to_);
  }

 private:
  [[nodiscard]] Value new_value(int id) { return to_.value(ids_[static_cast<size_t>(id)]); }

  // Results of the graph have the types that its author chose.
  int as_before(int id) {
    const DType dtype = from_.type(id).dtype;
    const Value value = new_value(id);
    return value.dtype() == dtype ? value.id() : autodiff::with_type(to_, value, dtype).id();
  }

  void add_source(int id) {
    const ir::ValueData& data = from_.data(id);
    Value value = to_.copy_source(data);
    labelled_[static_cast<size_t>(id)] = data.role == ir::Role::label ? 1 : 0;
    if (data.role == ir::Role::input && data.type.dtype == DType::f32) {
      wide_ids_[static_cast<size_t>(id)] = value.id();
      value = autodiff::with_type(to_, value, narrow_);
    }
    ids_[static_cast<size_t>(id)] = value.id();
  }

  // Whether the node is a part of the loss or of a metric: it reads what comes from a label, or
  // gives one number. Such nodes compute on f32, but those whose results are f32 anyway.
  [[nodiscard]] bool is_of_loss(const ir::Node& node) const {
    const bool reads_label = std::any_of(node.inputs.begin(), node.inputs.end(), [this](int id) {
      return id >= 0 && labelled_[static_cast<size_t>(id)] != 0;
    });
    const bool one_number = from_.type(node.outputs[0]).shape.rank() == 0;
    return reads_label || one_number;
  }

  // Whether the node gives whole numbers, or numbers that only lead to some.
  [[nodiscard]] bool is_of_integers(const ir::Node& node) const {
    return std::all_of(node.outputs.begin(), node.outputs.end(), [this](int id) {
      return !is_floating(from_.type(id).dtype) || leads_to_integers_[static_cast<size_t>(id)] != 0;
    });
  }

  // The new value of an input of a node.
  Value input_of(int id, bool of_integers, bool widens) {
    const int wide = wide_ids_[static_cast<size_t>(id)];
    if (of_integers && wide >= 0) return to_.value(wide);
    const Value value = new_value(id);
    return widens && value.dtype() == narrow_ ? autodiff::with_type(to_, value, DType::f32) : value;
  }

  void add_node(const ir::Node& node) {
    to_.reopen_layer(node.layer);
    const bool of_integers = is_of_integers(node);
    const bool gives_numbers = is_floating(from_.type(node.outputs[0]).dtype);
    const bool of_loss = is_of_loss(node);
    const bool stays = static_cast<size_t>(node.outputs.size()) <= node.op->kernels.stay_f32.size();
    ir::Node copy = node;
    std::vector<const ir::TensorType*> types;
    for (int& id : copy.inputs) {
      if (id < 0) continue;
      id = input_of(id, of_integers, (of_loss && !stays) || (of_integers && gives_numbers)).id();
    }
    for (const int id : copy.inputs) types.push_back(id < 0 ? nullptr : &to_.type(id));
    const std::vector<ir::TensorType> outputs = ir::infer_types(*node.op, node.attrs, types);
    const int node_id = static_cast<int>(to_.nodes.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const int old = node.outputs[i];
      ir::ValueData data = from_.data(old);
      data.type = outputs[i];
      data.producer = node_id;
      copy.outputs[i] = static_cast<int>(to_.values.size());
      ids_[static_cast<size_t>(old)] = copy.outputs[i];
      labelled_[static_cast<size_t>(old)] = of_loss && reads_any_label(node) ? 1 : 0;
      to_.values.push_back(std::move(data));
    }
    to_.nodes.push_back(std::move(copy));
    if (!of_loss && !of_integers && starts_from_parameters(node)) narrow_outputs(node);
    to_.end_layer();
  }

  [[nodiscard]] bool reads_any_label(const ir::Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [this](int id) {
      return id >= 0 && labelled_[static_cast<size_t>(id)] != 0;
    });
  }

  // Whether no activation of a floating-point type leads to the node: rows of a table, noise.
  [[nodiscard]] bool starts_from_parameters(const ir::Node& node) const {
    return std::none_of(node.inputs.begin(), node.inputs.end(), [this](int id) {
      return id >= 0 && is_floating(from_.type(id).dtype) && from_.data(id).producer >= 0;
    });
  }

  void narrow_outputs(const ir::Node& node) {
    if (!node.op->memory.updates.empty()) return;
    for (const int old : node.outputs) {
      const ir::TensorType& type = from_.type(old);
      if (type.dtype != DType::f32 || !is_of_batch(type.shape)) continue;
      wide_ids_[static_cast<size_t>(old)] = ids_[static_cast<size_t>(old)];
      ids_[static_cast<size_t>(old)] = autodiff::with_type(to_, new_value(old), narrow_).id();
    }
  }

  const ir::Graph& from_;
  DType narrow_;
  ir::Graph to_;
  std::vector<int> ids_;                 // new by old
  std::vector<int> wide_ids_;            // in f32, of those that were narrowed; else -1
  std::vector<char> labelled_;           // old values that a label leads to
  std::vector<char> leads_to_integers_;  // old values
};

}  // namespace

ir::Graph mixed_precision(const ir::Graph& graph, DType dtype) {
  if (dtype == DType::f32) return graph;
  return Narrowing(graph, dtype).run();
}

}  // namespace thimble::passes
