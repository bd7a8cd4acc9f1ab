#include <fmt/format.h>
#include <thimble/error.h>
#include <thimble/insert.h>

#include "ir/graph.h"
#include "passes/passes.h"

namespace thimble {
namespace {

class Inserting {
 public:
  Inserting(ir::Graph& to, const ir::Graph& model, const std::string& name)
      : to_(to),
        name_(name),
        from_(passes::specialize(model, ir::Phase::inference)),
        ids_(from_.values.size(), -1),
        needed_(from_.values.size(), 0) {}

  void take(const std::vector<Value>& inputs) {
    size_t next = 0;
    for (size_t id = 0; id < from_.values.size(); ++id) {
      const ir::ValueData& data = from_.values[id];
      if (data.producer >= 0 || data.role != ir::Role::input) continue;
      if (next == inputs.size()) fail("expected more inputs than {}", inputs.size());
      const Value given = inputs[next++];
      if (given.shape() != data.type.shape || given.dtype() != data.type.dtype) {
        fail("input {} is {} {}, got {} {}", *data.name, to_string(data.type.dtype),
             to_string(data.type.shape), to_string(given.dtype()), to_string(given.shape()));
      }
      ids_[id] = given.id();
    }
    if (next != inputs.size()) fail("expected {} inputs, got {}", next, inputs.size());
  }

  std::vector<std::pair<std::string, Value>> run() {
    find_needed();
    const ir::LayerScope layer(to_, "model", name_);
    for (size_t id = 0; id < from_.values.size(); ++id) {
      if (from_.values[id].producer < 0 && needed_[id] != 0 && ids_[id] < 0) add_source(id);
    }
    for (const ir::Node& node : from_.nodes) {
      if (is_needed(node)) add_node(node);
    }
    std::vector<std::pair<std::string, Value>> outputs;
    for (const auto& [output, id] : from_.outputs)
      outputs.emplace_back(output, to_.value(ids_[static_cast<size_t>(id)]));
    return outputs;
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    throw Error(name_, fmt::format(text, std::forward<Args>(args)...));
  }

  [[nodiscard]] bool is_needed(const ir::Node& node) const {
    for (const int id : node.outputs)
      if (needed_[static_cast<size_t>(id)] != 0) return true;
    return false;
  }

  void find_needed() {
    for (const auto& [output, id] : from_.outputs) needed_[static_cast<size_t>(id)] = 1;
    for (size_t n = from_.nodes.size(); n-- > 0;) {
      if (!is_needed(from_.nodes[n])) continue;
      for (const int id : from_.nodes[n].inputs)
        if (id >= 0) needed_[static_cast<size_t>(id)] = 1;
    }
  }

  void add_source(size_t id) {
    ir::ValueData data = from_.values[id];
    if (data.role == ir::Role::label) fail("an output needs the label {}", *data.name);
    if (data.role == ir::Role::scalar) {
      ids_[id] = to_.scalar(data.name, data.type.dtype, data.type.shape).id();
      return;
    }
    if (ir::is_own_name(*data.name)) {
      const Value known = to_.find_source(data.name);
      ids_[id] = (known ? known : to_.copy_source(data)).id();
      return;
    }
    if (data.data->elements() != data.type.shape.elements())
      fail("{} has no values: load them first", *data.name);
    data.name = name_ + "/" + *data.name;
    data.role = ir::Role::constant;
    data.trainable = false;
    data.init = {};
    ids_[id] = to_.copy_source(data).id();
  }

  void add_node(const ir::Node& node) {
    std::vector<Value> inputs;
    for (const int id : node.inputs)
      inputs.push_back(id < 0 ? Value() : to_.value(ids_[static_cast<size_t>(id)]));
    const std::vector<Value> outputs = to_.add(*node.op, node.attrs, inputs);
    for (size_t i = 0; i < node.outputs.size() && i < outputs.size(); ++i)
      ids_[static_cast<size_t>(node.outputs[i])] = outputs[i].id();
  }

  ir::Graph& to_;
  const std::string& name_;
  ir::Graph from_;
  std::vector<int> ids_;      // by value of the model: the one in the graph
  std::vector<char> needed_;  // for an output
};

}  // namespace

std::vector<ModelInput> model_inputs(const Graph& model) {
  std::vector<ModelInput> inputs;
  for (const ir::ValueData& data : model.ir().values) {
    if (data.producer >= 0 || data.role != ir::Role::input) continue;
    const Shape& shape = data.type.shape;
    std::vector<int64_t> sample;
    for (int axis = 1; axis < shape.rank(); ++axis) sample.push_back(shape[axis]);
    inputs.push_back({data.name, Shape(sample), data.type.dtype});
  }
  return inputs;
}

std::vector<std::pair<std::string, Value>> insert_model(Graph& graph, const Graph& model,
                                                        const std::vector<Value>& inputs,
                                                        const std::string& name) {
  Inserting inserting(graph.ir(), model.ir(), name);
  inserting.take(inputs);
  return inserting.run();
}

}  // namespace thimble
