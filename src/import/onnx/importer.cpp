#include "import/onnx/importer.h"

#include <fmt/format.h>
#include <thimble/ops.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "import/onnx/expand.h"
#include "import/onnx/node.h"
#include "import/onnx/steps.h"
#include "import/onnx/table.h"
#include "io/json/parse.h"
#include "ir/names.h"
#include "ir/reference.h"

namespace thimble::importer::onnx {
namespace {

constexpr int kMostDepth = 16;                          // of functions and graphs within each other
constexpr int64_t kOldestOpset = 7;                     // axes of broadcasts are as in NumPy since
constexpr int64_t kNewestOpset = 27;                    // of ONNX 1.22, whose node tests are run
constexpr int64_t kMostFolded = int64_t{1} << 24;       // elements of a tensor computed at import
constexpr int64_t kMostFoldedInAll = int64_t{1} << 26;  // of all of them

// Whether the order changes the places of axes of more than one element.
bool moves_elements(const Shape& shape, const Order& order) {
  int last = -1;
  for (const int axis : order) {
    if (shape[axis] == 1) continue;
    if (axis < last) return true;
    last = axis;
  }
  return false;
}

Value shaped(Value x, const Shape& shape) { return x.shape() == shape ? x : reshape(x, shape); }

std::string describe(const NodeDef& node) {
  if (!node.described.empty()) return node.described;
  const bool is_plain = std::all_of(node.op.begin(), node.op.end(),
                                    [](unsigned char c) { return c > ' ' && c < 127; });
  const std::string op = is_plain ? node.op : io::printable(node.op);
  return node.name.empty() ? op : fmt::format("{} ({})", io::printable(node.name), op);
}

// A parameter of numbers that no training should change: a mask of attention, say.
bool is_mask(const Array& values) {
  constexpr float kHuge = 1e30F;
  if (values.dtype() != DType::f32) return false;
  const std::span<const float> numbers = values.as<float>();
  return std::any_of(numbers.begin(), numbers.end(),
                     [](float x) { return !(std::abs(x) < kHuge); });
}

}  // namespace

bool has_open_batch(const Array& values) {
  if (is_floating(values.dtype())) return false;
  const std::vector<int64_t> numbers = values.integers();
  return std::any_of(numbers.begin(), numbers.end(),
                     [](int64_t x) { return x != 0 && x % kBatch == 0; });
}

void Importer::run(Scope& scope) {
  for (const NodeDef& node : model_.graph.nodes) {
    for (const std::string& input : node.inputs) readers_[input].push_back(&node);
  }
  for (const ValueInfo& output : model_.graph.outputs) readers_[output.name].push_back(nullptr);
  for (const NodeDef& node : model_.graph.nodes) note_inner_readers(node);
  for (const auto& [name, tensor] : model_.graph.initializers) {
    Item item{.known = tensor.values, .is_bool = tensor.is_bool};
    initial_ += tensor.values.elements();
    if (tensor.is_weight && is_floating(tensor.values.dtype()) &&
        tensor.values.shape().rank() > 0) {
      item.weight =
          std::make_shared<Weight>(Weight{.name = name, .made = {}, .full = {}, .order = {}});
      weights_.push_back(item.weight);
      item.order = plain_order(tensor.values.shape().rank());
    }
    scope.items.emplace(name, std::move(item));
  }
  add_nodes(model_.graph.nodes, scope, model_.opsets, 0);
}

void Importer::note_inner_readers(const NodeDef& node) {
  for (const auto& [name, attribute] : node.attributes) {
    if (!attribute.graph) continue;
    for (const NodeDef& inner : attribute.graph->nodes) {
      for (const std::string& input : inner.inputs) readers_[input].push_back(nullptr);
      note_inner_readers(inner);
    }
    for (const ValueInfo& output : attribute.graph->outputs) {
      readers_[output.name].push_back(nullptr);
    }
  }
}

std::vector<WeightLayout> Importer::layouts() const {
  std::vector<WeightLayout> all;
  for (const std::shared_ptr<Weight>& weight : weights_) {
    if (!weight->made) continue;
    all.push_back({weight->name, weight->made.name(), weight->full, weight->order});
  }
  return all;
}

std::vector<const NodeDef*> Importer::readers_of(const std::string& name) const {
  const auto found = readers_.find(name);
  return found == readers_.end() ? std::vector<const NodeDef*>() : found->second;
}

void Importer::count_dequantized(int64_t elements) {
  dequantized_ += elements;
  if (dequantized_ > 4 * initial_) {  // some files have a node for each reader
    throw Error(path_, "it dequantizes the same initializers over and over");
  }
}

const NodeDef* Importer::only_reader(const std::string& name) const {
  const auto found = readers_.find(name);
  return found == readers_.end() || found->second.size() != 1 ? nullptr : found->second.front();
}

std::string Importer::new_name(const std::string& wanted) {
  std::string name = wanted;
  if (!ir::name_error(name).empty() || ir::is_own_name(name)) name = "tensor";
  for (int i = 2; graph_->find_source(name); ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

Value Importer::constant(const Array& values) {
  const Value made =
      graph_->source(new_name("constant"), {values.dtype(), values.shape()}, ir::Role::constant);
  graph_->values[static_cast<size_t>(made.id())].data = values.owned();
  return made;
}

std::optional<Array> Importer::known(const Item& item) {
  if (!item.known) return std::nullopt;
  return item.weight ? transposed(*item.known, item.order) : *item.known;
}

Value Importer::rounded(const Value& x, const Steps& steps, int axis, int64_t parts) {
  const Value scale = constant(Array(steps.scales, {static_cast<int64_t>(steps.scales.size())}));
  return fake_quantize(x, scale, {.zero_point = steps.zero_point, .axis = axis, .parts = parts});
}

Value Importer::weight(const Item& item, const Order& order, const Shape& shape) {
  const Value made = unrounded(item, order, shape);
  if (!item.steps) return made;
  if (item.steps->scales.size() == 1) return rounded(made, *item.steps);
  if (item.known->shape() != item.steps->shape) return made;
  // The axis of the scales, behind as many elements as in the wanted order.
  int64_t before = 1;
  for (const int axis : order) {
    const int place = item.order[static_cast<size_t>(axis)];
    if (place == item.steps->axis) break;
    before *= item.known->shape()[place];
  }
  int axis = 0;
  for (int64_t passed = 1; axis < shape.rank() && passed < before; ++axis) passed *= shape[axis];
  const auto count = static_cast<int64_t>(item.steps->scales.size());
  while (axis < shape.rank() && shape[axis] == 1) ++axis;
  return axis < shape.rank() && shape[axis] == count ? rounded(made, *item.steps, axis) : made;
}

Value Importer::unrounded(const Item& item, const Order& order, const Shape& shape) {
  Weight& weight = *item.weight;
  Order axes;  // of the initializer, as they are wanted
  for (const int axis : order) axes.push_back(item.order[static_cast<size_t>(axis)]);
  if (!weight.made) {
    const Array values = transposed(*item.known, axes).reshaped(shape);
    const Value made = graph_->source(new_name(weight.name), {values.dtype(), shape},
                                      is_mask(values) ? ir::Role::constant : ir::Role::parameter);
    ir::ValueData& data = graph_->values[static_cast<size_t>(made.id())];
    data.data = values.owned();
    data.trainable = values.dtype() == DType::f32;
    weight.made = made;
    weight.full = item.known->shape();
    weight.order = axes;
    return made;
  }
  if (weight.full == item.known->shape() && weight.order == axes) return shaped(weight.made, shape);
  Value x = shaped(weight.made, ordered(weight.full, weight.order));
  x = transpose(x, [&] {
    const Order back = inverse(weight.order);
    return std::vector<int64_t>(back.begin(), back.end());
  }());
  x = shaped(x, item.known->shape());
  return shaped(transpose(x, {axes.begin(), axes.end()}), shape);
}

void Importer::check_rank(const Item& item, const Order& order) const {
  if (order.size() == static_cast<size_t>(item.rank())) return;
  throw Error(path_, fmt::format("expected a tensor of {} dimensions, got {}", order.size(),
                                 to_string(item.shape())));
}

Value Importer::value(const Item& item, const Order& order, const Shape& shape) {
  check_rank(item, order);
  if (item.weight && !is_function_) return weight(item, order, shape);
  if (item.known) {
    if (item.of_shape && !folds_ && has_open_batch(*item.known)) {
      throw Error(path_,
                  "numbers of the tensor depend on the batch size, which is left open; fix it "
                  "with the name of its dimension (--dim NAME=NUMBER)");
    }
    return constant(transposed(*known(item), order).reshaped(shape));
  }
  if (item.flattened) {
    Value& made = transposed_[{item.value.id(), Order{-1}}];
    if (!made) {
      const Order back = inverse(item.flattened->order);
      made = reshape(item.value, ordered(item.flattened->image, item.flattened->order));
      made = reshape(transpose(made, {back.begin(), back.end()}), item.value.shape());
    }
    Item plain;
    plain.value = made;
    plain.order = item.order;
    return value(plain, order, shape);
  }
  // Axes of the stored value, as they are wanted.
  const Order stored = inverse(item.order);
  Order axes;
  for (const int axis : order) axes.push_back(stored[static_cast<size_t>(axis)]);
  if (!moves_elements(item.value.shape(), axes)) return shaped(item.value, shape);
  Value& made = transposed_[{item.value.id(), axes}];
  if (!made) made = transpose(item.value, {axes.begin(), axes.end()});
  return shaped(made, shape);
}

Value Importer::value(const Item& item, const Order& order) {
  check_rank(item, order);
  return value(item, order, ordered(item.shape(), order));
}

const FunctionDef* Importer::function_of(const NodeDef& node) const {
  for (const FunctionDef& function : model_.functions) {
    if (function.name == node.op && function.domain == node.domain) return &function;
  }
  return nullptr;
}

void Importer::add_nodes(const std::vector<NodeDef>& nodes, Scope& scope, const Opsets& opsets,
                         int depth) {
  if (depth > kMostDepth) {
    throw Error(path_,
                fmt::format("functions and graphs call each other more than {} deep", kMostDepth));
  }
  for (const NodeDef& node : nodes) {
    if (done_.count(&node) == 0) add_node(node, scope, opsets, depth);
  }
}

std::vector<Item> Importer::add_graph(const GraphDef& inner, const Scope& outer,
                                      const Opsets& opsets, int depth) {
  Scope scope{.items = {}, .outer = &outer};
  for (const auto& [name, tensor] : inner.initializers) {
    scope.items[name] = Item{.known = tensor.values, .is_bool = tensor.is_bool};
  }
  add_nodes(inner.nodes, scope, opsets, depth + 1);
  std::vector<Item> outputs;
  for (const ValueInfo& output : inner.outputs) {
    const Item* const item = scope.find(output.name);
    if (item == nullptr) {
      throw Error(path_, fmt::format("no node gives {}, a result of a graph within a node",
                                     io::printable(output.name)));
    }
    outputs.push_back(*item);
  }
  return outputs;
}

void Importer::call(const FunctionDef& function, const NodeDef& node, Scope& scope, int depth) {
  Scope inner;
  for (size_t i = 0; i < function.inputs.size() && i < node.inputs.size(); ++i) {
    if (node.inputs[i].empty()) continue;
    const Item* const item = scope.find(node.inputs[i]);
    if (item == nullptr) {
      throw Error(path_, fmt::format("no node before it gives {}", io::printable(node.inputs[i])));
    }
    inner.items[function.inputs[i]] = *item;
  }
  std::vector<NodeDef> nodes = function.nodes;
  for (NodeDef& each : nodes) {
    for (auto at = each.attributes.begin(); at != each.attributes.end();) {
      if (at->second.refers_to.empty()) {
        ++at;
        continue;
      }
      const auto given = node.attributes.find(at->second.refers_to);
      const auto otherwise = function.defaults.find(at->second.refers_to);
      if (given != node.attributes.end()) {
        at->second = given->second;
      } else if (otherwise != function.defaults.end()) {
        at->second = otherwise->second;
      } else {
        at = each.attributes.erase(at);
        continue;
      }
      ++at;
    }
  }
  add_nodes(nodes, inner, function.opsets.empty() ? model_.opsets : function.opsets, depth + 1);
  for (size_t i = 0; i < function.outputs.size() && i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const Item* const item = inner.find(function.outputs[i]);
    if (item == nullptr) {
      throw Error(path_, fmt::format("the function {} gives no {}", io::printable(function.name),
                                     io::printable(function.outputs[i])));
    }
    scope.items[node.outputs[i]] = *item;
  }
}

// Runs a conversion in a graph of its own and computes the results.
void Importer::fold(const NodeDef& node, Scope& scope, const std::function<void()>& convert) {
  ir::Graph scratch;
  ir::Graph* const outer = std::exchange(graph_, &scratch);
  auto cached = std::exchange(transposed_, {});
  const bool was_function = std::exchange(is_function_, true);
  folds_ = true;
  const auto restore = [&] {
    graph_ = outer;
    transposed_ = std::move(cached);
    is_function_ = was_function;
    folds_ = false;
  };
  std::vector<Item*> computed;
  std::vector<ir::Bytes> values;
  try {
    convert();
    for (const std::string& name : node.outputs) {
      const auto found = scope.items.find(name);
      if (name.empty() || found == scope.items.end() || !found->second.value) continue;
      Item& item = found->second;
      item.value = value(item);
      item.order = plain_order(item.value.shape().rank());
      item.flattened.reset();
      computed.push_back(&item);
    }
    // What has the open batch as a dimension is computed when it is known: in the graph itself.
    for (const Item* const item : computed) {
      const std::vector<int64_t>& dims = item->value.shape().dims();
      if (std::none_of(dims.begin(), dims.end(),
                       [](int64_t dim) { return dim != 0 && dim % kBatch == 0; })) {
        continue;
      }
      restore();
      for (const std::string& name : node.outputs) scope.items.erase(name);
      convert();
      return;
    }
    for (const ir::ValueData& data : scratch.values) {
      const int64_t elements = data.type.shape.elements();
      folded_ += elements;
      if (elements > kMostFolded || folded_ > kMostFoldedInAll) {
        throw Error(path_, "its constants are too large to be computed when importing");
      }
    }
    if (!computed.empty()) values = ir::run_reference(scratch, {}, ir::Precision::f32);
  } catch (...) {
    restore();
    throw;
  }
  for (Item* const item : computed) {
    ir::Bytes& bytes = values[static_cast<size_t>(item->value.id())];
    item->known = Array::of_bytes(item->value.dtype(), item->value.shape(), bytes);
    item->value = {};
  }
  restore();
  bool of_shape = false;
  for (const std::string& input : node.inputs) {
    const Item* const item = input.empty() ? nullptr : scope.find(input);
    of_shape = of_shape || (item != nullptr && item->of_shape);
  }
  for (const std::string& name : node.outputs) {
    const auto found = scope.items.find(name);
    if (!name.empty() && found != scope.items.end()) found->second.of_shape |= of_shape;
  }
}

void Importer::hand_on_steps(const NodeDef& node, Scope& scope) {
  if (!keeps_steps(node) || node.inputs.empty()) return;
  const Item* const from = scope.find(node.inputs[0]);
  const auto to = scope.items.find(node.outputs[0]);
  if (from == nullptr || !from->is_value() || to == scope.items.end()) return;
  to->second.steps = from->steps;
}

void Importer::add_node(const NodeDef& node, Scope& scope, const Opsets& opsets, int depth) {
  try {
    if (node.outputs.empty()) throw Error(path_, "it has no result");
    if (const FunctionDef* const function = function_of(node)) {
      call(*function, node, scope, depth);
      return;
    }
    const auto version = opsets.find(node.domain);
    const Conversion* const convert = find_conversion(node.domain, node.op);
    if (convert == nullptr) {
      throw Error(path_, is_expandable(node)
                             ? "thimble imports it where its scales and zero points are "
                               "initializers, one of each for an activation, and images are "
                               "channels first"
                             : "thimble does not import this operator");
    }
    if (node.domain.empty() && (version == opsets.end() || version->second < kOldestOpset)) {
      throw Error(path_, fmt::format("the model is of opset {}; convert it to {} or newer",
                                     version == opsets.end() ? 0 : version->second, kOldestOpset));
    }
    if (node.domain.empty() && version->second > kNewestOpset) {
      throw Error(path_, fmt::format("the model is of opset {}, and thimble knows those up to {}; "
                                     "convert it to that one",
                                     version->second, kNewestOpset));
    }
    Node context(*this, node, scope, version == opsets.end() ? 1 : version->second, opsets, depth);
    bool all_known = !node.inputs.empty();
    for (const std::string& input : node.inputs) {
      if (input.empty()) continue;
      const Item* const item = scope.find(input);
      if (item == nullptr) {
        throw Error(path_, fmt::format("no node before it gives {}", io::printable(input)));
      }
      all_known = all_known && item->known && !item->weight;
    }
    if (all_known && convert->folds) {
      fold(node, scope, [&] { convert->convert(context); });
      return;
    }
    if (node.name.empty() || !ir::name_error(node.name).empty() || ir::is_own_name(node.name)) {
      convert->convert(context);
      hand_on_steps(node, scope);
      return;
    }
    const int times = ++layers_[node.name];
    std::string type = node.op;
    std::transform(type.begin(), type.end(), type.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const ir::LayerScope layer(*graph_, type.c_str(),
                               times == 1 ? node.name : fmt::format("{}_{}", node.name, times));
    convert->convert(context);
    hand_on_steps(node, scope);
  } catch (const Error& error) {
    const std::string what = error.where() == path_
                                 ? std::string(error.what()).substr(path_.size() + 3)
                                 : std::string(error.what());
    throw Error(path_, fmt::format("node {}: {}", describe(node), what));
  }
}

}  // namespace thimble::importer::onnx
