// From the bytes of an ONNX file to what they say.
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <thimble/error.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "import/onnx/expand.h"
#include "import/onnx/model.h"
#include "import/onnx/onnx.pb.h"
#include "import/onnx/tensors.h"
#include "io/json/parse.h"

namespace thimble::importer::onnx {
namespace {

constexpr int kMostMessageDepth = 60;  // of messages within messages
constexpr int kMostGraphDepth = 8;     // of graphs within graphs
constexpr int kMostNodes = 200'000;
constexpr size_t kMostBytes = size_t{1} << 31;  // protobuf has no larger ones

class Parser {
 public:
  Parser(const std::string& path, bool may_read) : path_(path), may_read_(may_read) {}

  Model run(onnx_file::ModelProto& message) {
    if (!message.has_graph()) fail("it has no graph: it is no ONNX model, or it is damaged");
    Model model;
    model.opsets = opsets(message.opset_import());
    for (onnx_file::FunctionProto& function : *message.mutable_functions()) {
      model.functions.push_back(function_of(function));
    }
    model.graph = graph_of(*message.mutable_graph(), 0);
    expand_quantized(model);
    return model;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(path_, what); }

  template <class List>
  Opsets opsets(const List& list) const {
    Opsets versions;
    for (const auto& one : list) {
      // ONNX's own operators have two names.
      versions[one.domain() == "ai.onnx" ? "" : one.domain()] = one.version();
    }
    return versions;
  }

  template <class List>
  static std::vector<std::string> texts(const List& list) {
    return {list.begin(), list.end()};
  }

  Attribute attribute_of(onnx_file::AttributeProto& from, int depth) {
    using Kind = Attribute::Kind;
    Attribute made;
    made.refers_to = from.ref_attr_name();
    if (!made.refers_to.empty()) return made;
    static constexpr Kind kKinds[] = {Kind::none,    Kind::number,   Kind::integer,
                                      Kind::text,    Kind::tensor,   Kind::graph,
                                      Kind::numbers, Kind::integers, Kind::texts};
    if (from.type() >= 0 && from.type() < static_cast<int>(std::size(kKinds))) {
      made.kind = kKinds[from.type()];
    }
    made.number = static_cast<double>(from.f());
    made.integer = from.i();
    made.text = from.s();
    made.numbers.assign(from.floats().begin(), from.floats().end());
    made.integers.assign(from.ints().begin(), from.ints().end());
    made.texts = texts(from.strings());
    if (made.kind == Kind::tensor) made.tensor = tensor_of(path_, *from.mutable_t(), may_read_);
    if (made.kind == Kind::graph) {
      made.graph = std::make_shared<const GraphDef>(graph_of(*from.mutable_g(), depth + 1));
    }
    return made;
  }

  template <class List>
  std::vector<NodeDef> nodes_of(List& list, int depth) {
    nodes_ += list.size();
    if (nodes_ > kMostNodes) fail(fmt::format("it has more than {} nodes", kMostNodes));
    std::vector<NodeDef> nodes;
    for (onnx_file::NodeProto& from : list) {
      NodeDef node;
      node.op = from.op_type();
      node.domain = from.domain() == "ai.onnx" ? "" : from.domain();
      node.name = from.name();
      node.inputs = texts(from.input());
      node.outputs = texts(from.output());
      for (onnx_file::AttributeProto& attribute : *from.mutable_attribute()) {
        node.attributes[attribute.name()] = attribute_of(attribute, depth);
      }
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  template <class List>
  static std::vector<ValueInfo> infos(const List& list) {
    std::vector<ValueInfo> values;
    for (const onnx_file::ValueInfoProto& from : list) {
      ValueInfo value;
      value.name = from.name();
      if (from.has_type() && from.type().has_tensor_type()) {
        const auto& type = from.type().tensor_type();
        value.type = type.elem_type();
        value.has_shape = type.has_shape();
        for (const auto& dim : type.shape().dim()) {
          value.dims.push_back({dim.has_dim_value() ? dim.dim_value() : -1, dim.dim_param()});
        }
      }
      values.push_back(std::move(value));
    }
    return values;
  }

  GraphDef graph_of(onnx_file::GraphProto& from, int depth) {
    if (depth > kMostGraphDepth) {
      fail(fmt::format("graphs lie more than {} deep within each other", kMostGraphDepth));
    }
    if (from.sparse_initializer_size() > 0) fail("it has sparse initializers; make them dense");
    GraphDef graph;
    for (onnx_file::TensorProto& tensor : *from.mutable_initializer()) {
      Tensor values = tensor_of(path_, tensor, may_read_);
      if (!graph.initializers.emplace(tensor.name(), std::move(values)).second) {
        fail(fmt::format("two initializers have the name {}", io::printable(tensor.name())));
      }
      tensor.Clear();
    }
    graph.nodes = nodes_of(*from.mutable_node(), depth);
    graph.inputs = infos(from.input());
    graph.outputs = infos(from.output());
    return graph;
  }

  FunctionDef function_of(onnx_file::FunctionProto& from) {
    FunctionDef made;
    made.name = from.name();
    made.domain = from.domain() == "ai.onnx" ? "" : from.domain();
    made.inputs = texts(from.input());
    made.outputs = texts(from.output());
    made.attributes = texts(from.attribute());
    for (onnx_file::AttributeProto& attribute : *from.mutable_attribute_proto()) {
      made.defaults[attribute.name()] = attribute_of(attribute, 0);
    }
    made.nodes = nodes_of(*from.mutable_node(), 0);
    made.opsets = opsets(from.opset_import());
    return made;
  }

  const std::string& path_;
  bool may_read_;
  int64_t nodes_ = 0;
};

Model parse(const std::string& path, google::protobuf::io::ZeroCopyInputStream& stream,
            bool may_read) {
  onnx_file::ModelProto message;
  google::protobuf::io::CodedInputStream input(&stream);
  input.SetRecursionLimit(kMostMessageDepth);
  if (!message.ParseFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    throw Error(path, "it is no ONNX model, or it is damaged: its protobuf message cannot be read");
  }
  return Parser(path, may_read).run(message);
}

}  // namespace

Model parse_model(const std::string& path, std::string_view bytes, bool may_read) {
  if (bytes.size() >= kMostBytes) throw Error(path, "an ONNX file has less than 2 GiB");
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  return parse(path, stream, may_read);
}

Model read_model(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) throw Error(path, "cannot read it: there is no such file, or no permission");
  if (size >= kMostBytes) throw Error(path, "an ONNX file has less than 2 GiB");
  google::protobuf::io::IstreamInputStream stream(&file);
  return parse(path, stream, true);
}

}  // namespace thimble::importer::onnx
