#include "import/onnx/serialize.h"

#include "import/onnx/onnx.pb.h"

namespace thimble::importer::onnx {
namespace {

constexpr int64_t kIrVersion = 10;

int type_of(const Tensor& tensor) {
  if (tensor.is_bool) return 9;
  for (int number = 1; number <= 16; ++number) {
    const auto type = element_type(number);
    if (type && !type->is_bool && type->dtype == tensor.values.dtype()) return number;
  }
  return 0;
}

void write(const std::string& name, const Attribute& from, onnx_file::AttributeProto& to) {
  using Kind = Attribute::Kind;
  to.set_name(name);
  to.set_type(static_cast<int>(from.kind));
  if (from.kind == Kind::number) to.set_f(static_cast<float>(from.number));
  if (from.kind == Kind::integer) to.set_i(from.integer);
  if (from.kind == Kind::text) to.set_s(from.text);
  for (const int64_t number : from.integers) to.add_ints(number);
}

void write(const std::string& name, const Tensor& from, onnx_file::TensorProto& to) {
  to.set_name(name);
  to.set_data_type(type_of(from));
  for (const int64_t dim : from.values.shape().dims()) to.add_dims(dim);
  const auto bytes = from.values.bytes();
  to.set_raw_data(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void write(const ValueInfo& from, onnx_file::ValueInfoProto& to) {
  to.set_name(from.name);
  auto& type = *to.mutable_type()->mutable_tensor_type();
  type.set_elem_type(static_cast<int>(from.type));
  auto& shape = *type.mutable_shape();
  for (const Dim& dim : from.dims) {
    auto& made = *shape.add_dim();
    if (dim.size < 0) {
      made.set_dim_param(dim.name);
    } else {
      made.set_dim_value(dim.size);
    }
  }
}

}  // namespace

std::string serialize(const Model& model) {
  onnx_file::ModelProto file;
  file.set_ir_version(kIrVersion);
  file.set_producer_name("thimble");
  for (const auto& [domain, version] : model.opsets) {
    auto& opset = *file.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  }
  onnx_file::GraphProto& graph = *file.mutable_graph();
  graph.set_name("main");
  for (const NodeDef& node : model.graph.nodes) {
    auto& made = *graph.add_node();
    made.set_op_type(node.op);
    if (!node.name.empty()) made.set_name(node.name);
    for (const std::string& input : node.inputs) made.add_input(input);
    for (const std::string& output : node.outputs) made.add_output(output);
    for (const auto& [name, attribute] : node.attributes) {
      write(name, attribute, *made.add_attribute());
    }
  }
  for (const auto& [name, tensor] : model.graph.initializers) {
    write(name, tensor, *graph.add_initializer());
  }
  for (const ValueInfo& input : model.graph.inputs) write(input, *graph.add_input());
  for (const ValueInfo& output : model.graph.outputs) write(output, *graph.add_output());
  return file.SerializeAsString();
}

}  // namespace thimble::importer::onnx
