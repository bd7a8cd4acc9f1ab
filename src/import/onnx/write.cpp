#include "import/onnx/write.h"

#include <thimble/error.h>
#include <thimble/export.h>

#include <algorithm>

#include "import/onnx/serialize.h"

namespace thimble {
namespace importer::onnx {
namespace {

constexpr int64_t kOpset = 23;  // has Attention and RMSNormalization
constexpr int64_t kOpsetOfInt8 = 20;
// onnxruntime (up to 1.32 at least) has no operators that draw random numbers from opset 22 on.
constexpr int64_t kOpsetOfDraws = 21;
constexpr int64_t kBoolNumber = 9;  // of element types

Shape with_leading_ones(const Shape& shape, int rank) {
  std::vector<int64_t> dims(static_cast<size_t>(rank - shape.rank()), 1);
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  return Shape(std::move(dims));
}

}  // namespace

int64_t type_number(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 1;
    case DType::u8:
      return 2;
    case DType::i8:
      return 3;
    case DType::i16:
      return 5;
    case DType::i32:
      return 6;
    case DType::i64:
      return 7;
    case DType::boolean:
      return kBoolNumber;
    case DType::f16:
      return 10;
    case DType::f64:
      return 11;
    case DType::bf16:
      return 16;
    default:
      return 0;
  }
}

bool keeps_elements(const Shape& shape, const Order& order) {
  int last = -1;
  for (const int axis : order) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

Order channels_first(int rank) { return inverse(channels_last(rank)); }

Attribute attribute(double number) {
  Attribute made;
  made.kind = Attribute::Kind::number;
  made.number = number;
  return made;
}
Attribute attribute(int64_t number) {
  Attribute made;
  made.kind = Attribute::Kind::integer;
  made.integer = number;
  return made;
}
Attribute attribute(const char* text) {
  Attribute made;
  made.kind = Attribute::Kind::text;
  made.text = text;
  return made;
}
Attribute attribute(const std::vector<int64_t>& numbers) {
  Attribute made;
  made.kind = Attribute::Kind::integers;
  made.integers = numbers;
  return made;
}

FileWriter::FileWriter(const ir::Graph& graph, const std::string& path)
    : WrittenGraph(graph, path), readers_(graph.consumers()) {
  for (const ir::Node& node : graph.nodes) {
    const std::string_view name = node.op->name;
    draws_ = draws_ || name == "random_normal" || name == "random_uniform";
  }
  model_.opsets[""] = draws_ ? kOpsetOfDraws : kOpset;
}

std::string FileWriter::add_initializer(const std::string& wanted, Tensor tensor) {
  count(tensor.values);
  std::string name = names_.make(wanted);
  model_.graph.initializers.emplace(name, std::move(tensor));
  return name;
}

std::string FileWriter::add_node(const char* op, const std::string& layer,
                                 const std::vector<std::string>& inputs,
                                 const Attributes& attributes, int results) {
  NodeDef node;
  node.op = op;
  if (!layer.empty() && layers_.insert(layer).second) node.name = layer;
  node.inputs = inputs;
  while (!node.inputs.empty() && node.inputs.back().empty()) node.inputs.pop_back();
  node.attributes = attributes;
  for (int i = 0; i < results; ++i) node.outputs.push_back(names_.make("value"));
  model_.graph.nodes.push_back(node);
  return node.outputs[0];
}

std::string FileWriter::result_of(const std::string& first, size_t i) const {
  for (const NodeDef& node : model_.graph.nodes) {
    if (node.outputs[0] == first) return node.outputs.at(i);
  }
  return "";
}

const FileWriter::Written& FileWriter::main_form(int value, const Order& order) {
  std::vector<Written>& forms = values_[value];
  if (forms.empty()) {
    const ir::ValueData& data = graph().data(value);
    if (!is_constant(value)) {
      fail(fmt::format("the value \"{}\" is no input and no node computes it", *data.name));
    }
    if (type_number(data.type.dtype) == 0) {
      fail(fmt::format("{} is {}, which such files do not hold", *data.name,
                       to_string(data.type.dtype)));
    }
    Tensor tensor{transposed(values_of(value), order)};
    tensor.is_bool = data.type.dtype == DType::boolean;
    if (tensor.is_bool) tensor.values = tensor.values.cast(DType::u8);
    const bool is_bool = tensor.is_bool;
    std::string name =
        add_initializer(data.name->empty() ? "constant" : *data.name, std::move(tensor));
    if (data.type.quantization != nullptr) {
      name = dequantized(name, *data.type.quantization, order);
    }
    forms.push_back({name, order, is_bool});
  }
  return forms[0];
}

const FileWriter::Written& FileWriter::written(int value, const Order& order) {
  const Written main = main_form(value, order);
  std::vector<Written>& forms = values_[value];
  for (const Written& form : forms) {
    if (form.order == order) return form;
  }
  const Order places = inverse(main.order);
  std::vector<int64_t> moves;
  for (const int axis : order) moves.push_back(places[static_cast<size_t>(axis)]);
  forms.push_back({add_node("Transpose", "", {main.name}, {{"perm", attribute(moves)}}, 1), order,
                   main.is_bool});
  return forms.back();
}

ValueInfo FileWriter::info_of(const std::string& name, int value) const {
  const ir::TensorType& type = graph().type(value);
  ValueInfo info{.name = name, .type = type_number(type.dtype), .has_shape = true, .dims = {}};
  if (info.type == 0) {
    fail(fmt::format("{} is {}, which such files do not hold", name, to_string(type.dtype)));
  }
  for (const int64_t dim : type.shape.dims()) {
    if (!is_of_batch(dim)) {
      info.dims.push_back({dim, ""});
    } else {
      info.dims.push_back({-1, dim == kBatch ? "batch" : fmt::format("batch_{}", dim / kBatch)});
    }
  }
  return info;
}

std::string FileWriter::open_batch() {
  if (!batch_.empty()) return batch_;
  for (const ValueInfo& input : model_.graph.inputs) {
    if (input.dims.empty() || input.dims[0].name != "batch") continue;
    const Attributes first{{"start", attribute(int64_t{0})}, {"end", attribute(int64_t{1})}};
    return batch_ = add_node("Shape", "", {input.name}, first, 1);
  }
  fail("no input has the batch that a shape depends on");
}

Model FileWriter::run() && {
  for (const auto& [name, id] : graph().outputs) names_.take(name);
  for (size_t id = 0; id < graph().values.size(); ++id) {
    const ir::ValueData& data = graph().values[id];
    if (data.producer >= 0 || data.role != ir::Role::input) continue;
    const std::string name = names_.make(*data.name);
    model_.graph.inputs.push_back(info_of(name, static_cast<int>(id)));
    const Order order = plain_order(data.type.shape.rank());
    const Quantization* const q = data.type.quantization.get();
    values_[static_cast<int>(id)] = {{q == nullptr ? name : dequantized(name, *q, order), order,
                                      data.type.dtype == DType::boolean}};
  }
  absorb_projections(*this);
  for (size_t i = 0; i < graph().nodes.size(); ++i) {
    if (absorbed_.count(static_cast<int>(i)) != 0) continue;
    Op op(*this, static_cast<int>(i));
    write_by_rule(op, {layer_writers(), element_writers(), shape_writers(), recurrent_writers(),
                       quantized_writers()});
  }
  for (const auto& [name, id] : graph().outputs) {
    Written form = written(id, plain_order(graph().type(id).shape.rank()));
    const int64_t type = type_number(graph().type(id).dtype);
    const Quantization* const q = graph().type(id).quantization.get();
    if (q != nullptr) form.name = quantized(form.name, *q);
    if (form.is_bool != (type == kBoolNumber)) {
      form.name = add_node("Cast", "", {form.name}, {{"to", attribute(type)}}, 1);
    }
    NodeDef last;
    last.op = "Identity";
    last.inputs = {form.name};
    last.outputs = {name};
    model_.graph.nodes.push_back(std::move(last));
    model_.graph.outputs.push_back(info_of(name, id));
  }
  if (is_of_int8()) model_.opsets[""] = kOpsetOfInt8;
  return std::move(model_);
}

bool FileWriter::is_of_int8() const {
  const std::vector<NodeDef>& nodes = model_.graph.nodes;
  const auto has = [&](std::string_view op) {
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](const NodeDef& node) { return node.op == op; });
  };
  return has("DequantizeLinear") && !has("Attention") && !has("RMSNormalization") &&
         !has("GroupNormalization");
}

Op::Op(FileWriter& file, int node)
    : WrittenOp(file, file.graph().nodes[static_cast<size_t>(node)]), file_(file) {}

std::string Op::input(int i, const Order& order) {
  static_cast<void>(type(i));
  const FileWriter::Written& form = file_.written(node().input(i), order);
  if (!form.is_bool) return form.name;
  return cast(form.name, DType::u8);
}

std::string Op::condition(int i, const Order& order) {
  static_cast<void>(type(i));
  const FileWriter::Written& form = file_.written(node().input(i), order);
  if (form.is_bool) return form.name;
  return cast(form.name, DType::boolean);
}

Order Op::order_of(int i) const {
  const auto found = file_.values_.find(node().input(i));
  if (found == file_.values_.end() || found->second.empty()) return plain_order(rank(i));
  return found->second[0].order;
}

std::vector<std::string> Op::broadcast(const std::vector<int>& inputs, Order& order, bool as_bool) {
  const int most = result().shape.rank();
  int lead = -1;
  for (const int i : inputs) {
    if (rank(i) != most || is_constant(i)) continue;
    if (lead < 0 || shape(i).elements() > shape(lead).elements()) lead = i;
  }
  order = lead < 0 ? plain_order(most) : order_of(lead);
  for (const int i : inputs) {
    const bool is_small = rank(i) == most || shape(i).elements() == 1;
    if (!is_small && !keeps_elements(with_leading_ones(shape(i), most), order)) {
      order = plain_order(most);
    }
  }
  std::vector<std::string> names;
  for (const int i : inputs) {
    const Order own = rank(i) == most ? order : plain_order(rank(i));
    std::string name = as_bool ? condition(i, own) : input(i, own);
    if (rank(i) != most && shape(i).elements() != 1 && order != plain_order(most)) {
      name = reshape(name, ordered(with_leading_ones(shape(i), most), order));
    }
    names.push_back(std::move(name));
  }
  return names;
}

bool Op::is_read(int i) const {
  const int value = node().outputs[static_cast<size_t>(i)];
  const auto& outputs = file_.graph().outputs;
  return !file_.readers()[static_cast<size_t>(value)].empty() ||
         std::any_of(outputs.begin(), outputs.end(),
                     [&](const auto& output) { return output.second == value; });
}

std::string Op::integers(const std::vector<int64_t>& values) {
  Tensor tensor{Array(values, {static_cast<int64_t>(values.size())})};
  return file_.add_initializer("numbers", std::move(tensor));
}
std::string Op::number(double value, DType dtype) {
  return file_.add_initializer("number", {Array(std::vector<double>{value}, {}).cast(dtype)});
}
std::string Op::floats(const std::vector<float>& values, const Shape& shape) {
  return file_.add_initializer("constant", {Array(values, shape)});
}

std::string Op::sizes(const Shape& shape) {
  const std::vector<int64_t>& dims = shape.dims();
  if (std::none_of(dims.begin(), dims.end(), is_of_batch)) return integers(dims);
  std::vector<std::string> parts;
  for (const int64_t dim : dims) {
    if (!is_of_batch(dim)) {
      parts.push_back(integers({dim}));
    } else if (dim == kBatch) {
      parts.push_back(file_.open_batch());
    } else {
      parts.push_back(add("Mul", {file_.open_batch(), integers({dim / kBatch})}));
    }
  }
  return parts.size() == 1 ? parts[0] : add("Concat", parts, {{"axis", attribute(int64_t{0})}});
}

std::string Op::add(const char* op, const std::vector<std::string>& inputs,
                    const Attributes& attributes, int results) {
  return file_.add_node(op, layer(), inputs, attributes, results);
}

std::string Op::cast(const std::string& x, DType dtype) {
  const int64_t to = type_number(dtype);
  if (to == 0)
    fail(fmt::format("its result is {}, which such files do not hold", to_string(dtype)));
  return add("Cast", {x}, {{"to", attribute(to)}});
}

std::string Op::reshape(const std::string& x, const Shape& shape) {
  std::vector<int64_t> dims = shape.dims();
  const auto open = std::count_if(dims.begin(), dims.end(), is_of_batch);
  if (open > 1 || shape.elements() == 0) return add("Reshape", {x, sizes(shape)});
  for (int64_t& dim : dims) {
    if (is_of_batch(dim)) dim = -1;
  }
  return add("Reshape", {x, integers(dims)});
}

void Op::give(int i, const std::string& name, const Order& order, bool is_bool) {
  const Quantization* const q = result(i).quantization.get();
  file_.values_[node().outputs[static_cast<size_t>(i)]] = {
      {q == nullptr ? name : file_.rounded(name, *q), order, is_bool}};
}

void Op::give(const std::string& name, const Order& order, Activation activation) {
  if (activation == Activation::relu) return give(add("Relu", {name}), order);
  if (activation == Activation::relu6) {
    return give(add("Clip", {name, number(0.0), number(6.0)}), order);
  }
  give(name, order);
}

}  // namespace importer::onnx

void export_onnx(const Graph& graph, const std::string& path) {
  const ir::Graph forward = importer::inference_graph(graph, path);
  importer::write_whole(path,
                        importer::onnx::serialize(importer::onnx::FileWriter(forward, path).run()));
}

}  // namespace thimble
