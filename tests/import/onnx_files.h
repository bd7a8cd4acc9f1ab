// ONNX models that tests write themselves.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/onnx.pb.h"

namespace thimble::test {

// A model under construction, opset 17 unless told otherwise.
class OnnxFile {
 public:
  explicit OnnxFile(int64_t opset = 17) {
    message_.set_ir_version(8);
    message_.add_opset_import()->set_version(opset);
  }

  onnx_file::ModelProto& message() { return message_; }
  onnx_file::GraphProto& graph() { return *message_.mutable_graph(); }

  // dims: below 0 are left open under the name "d<number>"; the first is "N".
  OnnxFile& input(const std::string& name, const std::vector<int64_t>& dims, int type = 1) {
    fill(*graph().add_input(), name, dims, type);
    return *this;
  }
  OnnxFile& output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }
  OnnxFile& floats(const std::string& name, const std::vector<int64_t>& dims,
                   const std::vector<float>& values) {
    onnx_file::TensorProto& tensor = initializer(name, dims, 1);
    for (const float value : values) tensor.add_float_data(value);
    return *this;
  }
  OnnxFile& integers(const std::string& name, const std::vector<int64_t>& values) {
    onnx_file::TensorProto& tensor = initializer(name, {static_cast<int64_t>(values.size())}, 7);
    for (const int64_t value : values) tensor.add_int64_data(value);
    return *this;
  }
  onnx_file::TensorProto& initializer(const std::string& name, const std::vector<int64_t>& dims,
                                      int type) {
    onnx_file::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const int64_t dim : dims) tensor.add_dims(dim);
    return tensor;
  }
  onnx_file::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                             const std::string& output) {
    onnx_file::NodeProto& made = *graph().add_node();
    made.set_op_type(op);
    for (const std::string& name : inputs) made.add_input(name);
    made.add_output(output);
    return made;
  }

  [[nodiscard]] std::string bytes() const { return message_.SerializeAsString(); }

 private:
  static void fill(onnx_file::ValueInfoProto& info, const std::string& name,
                   const std::vector<int64_t>& dims, int type) {
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    auto& shape = *tensor.mutable_shape();
    for (size_t i = 0; i < dims.size(); ++i) {
      auto& dim = *shape.add_dim();
      if (dims[i] >= 0) {
        dim.set_dim_value(dims[i]);
      } else {
        dim.set_dim_param(i == 0 ? "N" : "d" + std::to_string(i));
      }
    }
  }

  onnx_file::ModelProto message_;
};

inline void set_integers(onnx_file::NodeProto& node, const std::string& name,
                         const std::vector<int64_t>& values) {
  onnx_file::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(7);
  for (const int64_t value : values) attribute.add_ints(value);
}

inline void set_integer(onnx_file::NodeProto& node, const std::string& name, int64_t value) {
  onnx_file::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(2);
  attribute.set_i(value);
}

}  // namespace thimble::test
