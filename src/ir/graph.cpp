#include "ir/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/inputs.h"
#include "ir/names.h"
#include "ir/sizes.h"

namespace thimble::ir {
namespace {

bool is_of_batch(int64_t dim) { return dim != 0 && dim % kBatch == 0; }

// Whether the batch is still open. Once it is fixed, inputs have real sizes, and a multiple of
// kBatch is an ordinary size.
bool is_open(const Graph& graph) {
  bool any = false;
  for (const ValueData& data : graph.values) {
    if (data.role != Role::input && data.role != Role::label) continue;
    if (data.type.shape.rank() > 0 && is_of_batch(data.type.shape[0])) return true;
    any = true;
  }
  return !any;
}

void check_size(const Graph& graph, const std::string& where, const TensorType& type) {
  const std::vector<int64_t>& dims = type.shape.dims();
  check_size(where, type, std::any_of(dims.begin(), dims.end(), is_of_batch) && is_open(graph));
}

// Parameters outlive the batch and cannot depend on its size; in inputs and labels only the first
// dimension is the batch.
void check_batch(const Graph& graph, const std::string& name, const Shape& shape, Role role) {
  const std::vector<int64_t>& dims = shape.dims();
  const bool of_batch = role == Role::input || role == Role::label;
  if (!of_batch && !is_persistent(role)) return;
  if (of_batch && (dims.empty() || !is_of_batch(dims[0]))) return;
  if (std::none_of(dims.begin() + (of_batch ? 1 : 0), dims.end(), is_of_batch)) return;
  if (of_batch) {
    throw Error(name,
                fmt::format("has the shape {}, N the batch: a dimension of a sample cannot "
                            "be {} or a multiple, which stands for the batch; pad or split it",
                            thimble::to_string(shape), kBatch));
  }
  if (!is_open(graph)) return;
  throw Error(name, fmt::format("a {} cannot depend on the batch, but has the shape {}, N the "
                                "batch; keep the batch the first dimension of what a layer takes "
                                "(transpose or reshape it). A size of {} or a multiple stands for "
                                "the batch, too: take another",
                                to_string(role), thimble::to_string(shape), kBatch));
}

// Of sources and layers: the names of a layer's parameters begin with its own.
void refuse_own_name(const std::string& name) {
  if (!is_own_name(name)) return;
  throw Error(name,
              fmt::format("names that begin with {} are thimble's own; take another", kOwnPrefix));
}

ValueData source_data(const std::string& name, TensorType type, Role role,
                      const Initializer& init) {
  ValueData data;
  data.name = name;
  data.type = std::move(type);
  data.role = role;
  if (init != Initializer()) data.init = init;
  return data;
}

}  // namespace

const char* to_string(Role role) {
  switch (role) {
    case Role::input:
      return "input";
    case Role::label:
      return "label";
    case Role::parameter:
      return "parameter";
    case Role::state:
      return "state";
    case Role::constant:
      return "constant";
    case Role::scalar:
      return "scalar";
    case Role::activation:
      return "activation";
    case Role::gradient:
      return "gradient";
  }
  return "?";
}

Value Graph::source(const std::string& name, TensorType type, Role role, Initializer init) {
  refuse_own_name(name);
  if (const auto given = given_.find(name); given != given_.end() && role == Role::parameter) {
    const TensorType& have = this->type(given->second);
    if (have == type) return value(given->second);
    throw Error(name, fmt::format("expected weights {}, got {}", to_string(type), to_string(have)));
  }
  return add_source(source_data(name, std::move(type), role, init));
}

Value Graph::own_source(const std::string& name, TensorType type, Role role, Initializer init) {
  if (!is_own_name(name)) {
    throw Error("graph", fmt::format("\"{}\" is no name of thimble's own", name));
  }
  return add_source(source_data(name, std::move(type), role, init));
}

Value Graph::add_source(ValueData data) {
  check_name("graph", data.name);
  check_size(*this, data.name, data.type);
  check_batch(*this, data.name, data.type.shape, data.role);
  const std::string wrong = quantization_error(data.type);
  if (!wrong.empty()) throw Error(data.name, wrong);
  return copy_source(data);
}

Value Graph::copy_source(const ValueData& data) {
  const auto at = source_at(data.name);
  if (at != sources_.end() && at->first == data.name) {
    throw Error(data.name, "the name is taken; give every input, label and parameter its own");
  }
  const int id = static_cast<int>(values.size());
  sources_.insert(at, {data.name, id});
  values.push_back(data);
  return value(id);
}

Value Graph::add_own_constant(const std::string& name, Array values) {
  const Value value = own_source(name, {values.dtype(), values.shape()}, Role::constant);
  this->values[static_cast<size_t>(value.id())].data = values.owned();
  return value;
}

void Graph::give(const std::map<std::string, Value>& parameters) {
  given_.clear();
  for (const auto& [name, value] : parameters) {
    if (!value || &value.graph() != this) throw Error(name, "the weights belong to another graph");
    given_[name] = value.id();
  }
}

Value Graph::scalar(const std::string& name, DType dtype, const Shape& shape) {
  if (const Value known = find_source(name)) {
    const ValueData& have = data(known.id());
    const TensorType wanted{dtype, shape};
    if (have.role == Role::scalar && have.type == wanted) return known;
    throw Error(name, fmt::format("the name is thimble's own: expected a scalar {}, and the model "
                                  "has a {} {}",
                                  to_string(wanted), to_string(have.role), to_string(have.type)));
  }
  return own_source(name, {dtype, shape}, Role::scalar);
}

Value Graph::find_source(const std::string& name) {
  const auto at = source_at(name);
  return at == sources_.end() || at->first != name ? Value() : value(at->second);
}

Graph::Sources::const_iterator Graph::source_at(std::string_view name) const {
  return std::lower_bound(sources_.begin(), sources_.end(), name,
                          [](const auto& source, std::string_view wanted) {
                            return std::string_view(source.first) < wanted;
                          });
}

std::vector<Value> Graph::add(const OpDef& op, Attrs attrs, std::span<const Value> inputs) {
  Node node;
  node.op = &op;
  node.attrs = attrs ? std::move(attrs) : Attrs::defaults(op.signature.attrs);
  std::vector<const TensorType*> types;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& input = inputs[i];
    if (input && &input.graph() != this) {
      throw Error(op.name, fmt::format("input {} belongs to another graph", i));
    }
    node.inputs.push_back(input.id());
    types.push_back(input ? &type(input.id()) : nullptr);
  }
  while (!node.inputs.empty() && node.inputs.back() < 0) {
    node.inputs.pop_back();
    types.pop_back();
  }
  const std::string wrong = inputs_error(op, types);
  if (!wrong.empty()) throw Error(op.name, wrong);
  const std::vector<TensorType> result = infer_types(op, node.attrs, types);
  for (const TensorType& type : result) check_size(*this, op.name, type);
  const std::string out_of_range = range_error(node.attrs);
  if (!out_of_range.empty()) throw Error(op.name, out_of_range);

  const bool own_layer = open_layers_ == 0;
  const std::string layer_name = begin_layer(op.name, "");
  node.layer = current_layer_;
  const int node_id = static_cast<int>(nodes.size());
  std::vector<Value> handles;
  for (size_t i = 0; i < result.size(); ++i) {
    ValueData data;
    data.name = own_layer            ? layer_name
                : layer_name.empty() ? std::string(op.name)
                                     : fmt::format("{}/{}", layer_name, op.name);
    if (result.size() > op.signature.outputs.size()) {
      data.name += fmt::format(".{}", i);
    } else if (result.size() > 1) {
      data.name += fmt::format(".{}", op.signature.outputs[i].name);
    }
    data.type = result[i];
    data.producer = node_id;
    node.outputs.push_back(static_cast<int>(values.size()));
    handles.push_back(value(static_cast<int>(values.size())));
    values.push_back(std::move(data));
  }
  for (const Alias& update : op.memory.updates) {
    const int input = node.input(update.in);
    if (input < 0) continue;
    ValueData& output = values[static_cast<size_t>(node.outputs[static_cast<size_t>(update.out)])];
    output.role = data(input).role;
    output.name = data(input).name;
  }
  nodes.push_back(std::move(node));
  end_layer();
  return handles;
}

Value Graph::add1(const OpDef& op, Attrs attrs, std::initializer_list<Value> inputs) {
  return add(op, std::move(attrs), std::span<const Value>(inputs.begin(), inputs.size()))[0];
}

int Graph::updated(int id) const {
  for (const Node& node : nodes) {
    for (const Alias& update : node.op->memory.updates) {
      if (node.input(update.in) == id) id = node.outputs[static_cast<size_t>(update.out)];
    }
  }
  return id;
}

const Node* Graph::producer_of(int id) const {
  const int producer = id < 0 ? -1 : data(id).producer;
  return producer < 0 ? nullptr : &nodes[static_cast<size_t>(producer)];
}

const Node* Graph::producer_of(int id, const OpDef& op) const {
  const Node* const node = producer_of(id);
  return node != nullptr && node->op == &op ? node : nullptr;
}

std::vector<std::vector<int>> Graph::consumers() const {
  std::vector<std::vector<int>> readers(values.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (int input : nodes[n].inputs) {
      if (input < 0) continue;
      auto& list = readers[static_cast<size_t>(input)];
      if (list.empty() || list.back() != static_cast<int>(n)) list.push_back(static_cast<int>(n));
    }
  }
  return readers;
}

std::vector<int> Graph::read_counts() const {
  std::vector<int> counts(values.size(), 0);
  for (const Node& node : nodes) {
    for (const int id : node.inputs) {
      if (id >= 0) ++counts[static_cast<size_t>(id)];
    }
  }
  return counts;
}

std::vector<char> Graph::read_once() const {
  const std::vector<int> counts = read_counts();
  std::vector<char> once(counts.size());
  std::transform(counts.begin(), counts.end(), once.begin(),
                 [](int count) { return static_cast<char>(count == 1); });
  for (const int id : results()) once[static_cast<size_t>(id)] = 0;
  return once;
}

std::vector<int> Graph::results() const {
  std::vector<int> ids;
  if (loss) ids.push_back(*loss);
  for (const auto& [name, id] : outputs) ids.push_back(id);
  for (const auto& [name, id] : metrics) ids.push_back(id);
  return ids;
}

std::string Graph::begin_layer(const std::string& type, const std::string& name) {
  refuse_own_name(name);
  if (open_layers_ == 0 && !name.empty()) check_name("layer", name);
  if (open_layers_++ > 0) {
    return current_layer_ < 0 ? std::string() : layers[static_cast<size_t>(current_layer_)].name;
  }
  const int number = ++layer_counts_[type];
  Layer layer;
  layer.name = name.empty() ? fmt::format("{}_{}", type, number) : name;
  layer.type = type;
  current_layer_ = static_cast<int>(layers.size());
  layers.push_back(std::move(layer));
  return layers.back().name;
}

void Graph::reopen_layer(int layer) {
  ++open_layers_;
  current_layer_ = layer;
}

void Graph::end_layer() {
  if (--open_layers_ == 0) current_layer_ = -1;
}

}  // namespace thimble::ir
