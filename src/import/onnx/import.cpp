// The inputs and outputs of an ONNX model, and the functions that import it.
#include <fmt/format.h>
#include <thimble/import.h>
#include <thimble/ops.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "import/onnx/importer.h"
#include "import/onnx/onnx.h"
#include "io/json/parse.h"

namespace thimble::importer::onnx {
namespace {

// Operators that read images as [N, C, ...], and those that leave the meaning of axes alone.
const std::set<std::string>& image_operators() {
  static const std::set<std::string> names{"Conv",
                                           "ConvInteger",
                                           "QLinearConv",
                                           "ConvTranspose",
                                           "MaxPool",
                                           "AveragePool",
                                           "LpPool",
                                           "GlobalAveragePool",
                                           "GlobalMaxPool",
                                           "GlobalLpPool",
                                           "LRN",
                                           "BatchNormalization",
                                           "InstanceNormalization",
                                           "Resize",
                                           "Upsample",
                                           "GroupNormalization",
                                           "DepthToSpace",
                                           "SpaceToDepth",
                                           "GridSample"};
  return names;
}
const std::set<std::string>& passing_operators() {
  static const std::set<std::string> names{
      "Identity",         "Cast",  "Clip",      "Relu",  "Add", "Sub", "Mul",  "Div",
      "Dropout",          "Pad",   "Sigmoid",   "Tanh",  "Neg", "Abs", "Sqrt", "QuantizeLinear",
      "DequantizeLinear", "PRelu", "LeakyRelu", "Concat"};
  return names;
}

// Whether the tensor reaches an operator on images.
bool is_image(const GraphDef& graph, const std::string& name) {
  std::set<std::string> reached{name};
  for (const NodeDef& node : graph.nodes) {
    if (node.inputs.empty() || !node.domain.empty()) continue;
    const bool reads =
        std::any_of(node.inputs.begin(), node.inputs.end(),
                    [&](const std::string& each) { return reached.count(each) > 0; });
    if (!reads) continue;
    if (image_operators().count(node.op) > 0 && reached.count(node.inputs[0]) > 0) return true;
    if (passing_operators().count(node.op) > 0) {
      reached.insert(node.outputs.begin(), node.outputs.end());
    }
  }
  return false;
}

// Whether an input of int64 is read as indices alone.
bool is_index(const GraphDef& graph, const std::string& name) {
  bool read = false;
  for (const NodeDef& node : graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != name) continue;
      if (node.op != "Gather" || i != 1) return false;
      read = true;
    }
  }
  return read;
}

class Border {
 public:
  Border(const std::string& path, const Model& model, const OnnxOptions& options)
      : path_(path), model_(model), options_(options) {}

  Graph run(std::vector<WeightLayout>* layouts) {
    Graph graph;
    Importer importer(path_, model_, graph.ir(), false);
    Scope scope;
    std::set<std::string> known_dims;
    for (const ValueInfo& input : model_.graph.inputs) {
      for (const Dim& dim : input.dims) known_dims.insert(dim.name);
      if (model_.graph.initializers.count(input.name) > 0) continue;  // before IR 4
      add_input(graph, importer, scope, input);
    }
    for (const auto& [name, size] : options_.dims) {
      if (known_dims.count(name) == 0) {
        throw Error(path_, fmt::format("no input has a dimension named {}", io::printable(name)));
      }
    }
    importer.run(scope);
    if (model_.graph.outputs.empty()) throw Error(path_, "it has no outputs");
    for (const ValueInfo& output : model_.graph.outputs) {
      add_output(graph, importer, scope, output.name);
    }
    if (layouts != nullptr) *layouts = importer.layouts();
    return graph;
  }

 private:
  [[noreturn]] void fail(const std::string& input, const std::string& what) const {
    throw Error(path_, fmt::format("input {}: {}", io::printable(input), what));
  }

  void add_input(Graph& graph, Importer& importer, Scope& scope, const ValueInfo& input) {
    const std::optional<ElementType> type = element_type(input.type);
    if (!type) fail(input.name, "thimble has no tensors of " + element_name(input.type));
    if (!input.has_shape || input.dims.empty()) {
      fail(input.name, "it has no dimension for the batch");
    }
    if (input.dims.size() > 8) fail(input.name, "expected at most 8 dimensions");
    // The axis of the batch: the only one left open, or the first.
    std::vector<int64_t> dims;
    std::vector<size_t> open;
    for (size_t i = 0; i < input.dims.size(); ++i) {
      const Dim& dim = input.dims[i];
      const auto given = options_.dims.find(dim.name);
      const bool is_given = dim.size < 0 && !dim.name.empty() && given != options_.dims.end();
      dims.push_back(is_given ? given->second : dim.size);
      if (dims.back() < 0) open.push_back(i);
      if (dims.back() == 0 || dims.back() >= kBatch) {
        fail(input.name, fmt::format("its dimension {} is {}", i, dims.back()));
      }
    }
    size_t batch = 0;
    if (open.size() == 1) batch = open[0];
    if (open.size() > 1) {
      for (size_t i = 0; i < open.size(); ++i) {
        if (open[i] == 0) continue;
        const std::string& name = input.dims[open[i]].name;
        fail(input.name,
             fmt::format("its dimension {} is left open: give it a size (--dim {}=NUMBER)", open[i],
                         name.empty() ? "NAME" : name));
      }
    }
    if (dims[batch] > 0) {
      if (importer.fixed_batch() > 0 && importer.fixed_batch() != dims[batch]) {
        fail(input.name, fmt::format("its first dimension is {}, that of another input {}",
                                     dims[batch], importer.fixed_batch()));
      }
      importer.set_fixed_batch(dims[batch]);
    }
    const auto rank = static_cast<int>(dims.size());
    Order order = plain_order(rank);
    if (!options_.keep_layout && rank >= 3 && batch == 0 && is_floating(type->dtype) &&
        is_image(model_.graph, input.name)) {
      order = channels_last(rank);
    } else {
      order.erase(order.begin() + static_cast<int64_t>(batch));
      order.insert(order.begin(), static_cast<int>(batch));
    }
    std::vector<int64_t> sample;
    for (size_t i = 1; i < order.size(); ++i) sample.push_back(dims[static_cast<size_t>(order[i])]);
    Item item;
    const bool indices = type->dtype == DType::i64 && is_index(model_.graph, input.name);
    item.value = graph.input(input.name, Shape(sample), indices ? DType::i32 : type->dtype);
    item.order = order;
    item.is_bool = type->is_bool;
    if (!scope.items.emplace(input.name, std::move(item)).second) {
      fail(input.name, "two inputs have its name");
    }
  }

  void add_output(Graph& graph, Importer& importer, const Scope& scope, const std::string& name) {
    const Item* const item = scope.find(name);
    if (item == nullptr) {
      throw Error(path_, fmt::format("no node gives the output {}", io::printable(name)));
    }
    Order order = plain_order(item->rank());
    if (item->is_value() && !item->flattened) {
      if (!options_.keep_layout && item->rank() >= 3 &&
          item->order == channels_last(item->rank())) {
        order = item->order;
      } else {
        // The batch comes first.
        const Shape shape = item->shape();
        const auto batch = std::find(shape.dims().begin(), shape.dims().end(), kBatch);
        if (batch != shape.dims().end()) {
          const auto axis = static_cast<int>(batch - shape.dims().begin());
          order.erase(order.begin() + axis);
          order.insert(order.begin(), axis);
        }
      }
    }
    graph.output(name, importer.value(*item, order));
  }

  const std::string& path_;
  const Model& model_;
  const OnnxOptions& options_;
};

}  // namespace

Graph graph_of(const std::string& path, const Model& model, const OnnxOptions& options,
               std::vector<WeightLayout>* layouts) {
  try {
    return Border(path, model, options).run(layouts);
  } catch (const Error& error) {
    if (error.where() == path) throw;
    throw Error(path, error.what());
  }
}

std::vector<std::pair<std::string, Value>> apply(const std::string& path, const Model& model,
                                                 ir::Graph& graph,
                                                 const std::map<std::string, Value>& values,
                                                 const std::map<std::string, Tensor>& constants) {
  Importer importer(path, model, graph, true);
  Scope scope;
  for (const ValueInfo& input : model.graph.inputs) {
    const std::optional<ElementType> type = element_type(input.type);
    Item item;
    item.is_bool = type && type->is_bool;
    if (const auto value = values.find(input.name); value != values.end()) {
      if (!type) {
        throw Error(path, fmt::format("input {}: thimble has no tensors of {}",
                                      io::printable(input.name), element_name(input.type)));
      }
      item.value = value->second;
      if (item.value.dtype() != type->dtype) item.value = cast(item.value, type->dtype);
      item.order = plain_order(item.value.shape().rank());
    } else if (const auto array = constants.find(input.name); array != constants.end()) {
      item.known = array->second.values;
      if (type) item.known = item.known->cast(type->dtype);
      item.is_bool = item.is_bool || array->second.is_bool;
    } else if (model.graph.initializers.count(input.name) > 0 || input.name.empty()) {
      continue;
    } else {
      throw Error(path, fmt::format("the input {} is not given", io::printable(input.name)));
    }
    scope.items[input.name] = std::move(item);
  }
  importer.run(scope);
  std::vector<std::pair<std::string, Value>> outputs;
  for (const ValueInfo& output : model.graph.outputs) {
    const Item* const item = scope.find(output.name);
    if (item == nullptr) {
      throw Error(path, fmt::format("no node gives the output {}", io::printable(output.name)));
    }
    outputs.emplace_back(output.name, importer.value(*item));
  }
  return outputs;
}

}  // namespace thimble::importer::onnx

namespace thimble {

Graph import_onnx(const std::string& path, const OnnxOptions& options) {
  return importer::onnx::graph_of(path, importer::onnx::read_model(path), options);
}

}  // namespace thimble
