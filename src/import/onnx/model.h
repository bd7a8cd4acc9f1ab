// An ONNX model as the importer sees it: what the file says, checked, without protobuf.
#pragma once

#include <thimble/array.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::importer::onnx {

// ONNX's element types that thimble has, and bool, which is held as u8.
struct ElementType {
  DType dtype = DType::f32;
  bool is_bool = false;
  bool operator==(const ElementType&) const = default;
};
// Of a number of TensorProto.DataType; none: thimble has no such type.
[[nodiscard]] std::optional<ElementType> element_type(int64_t number);
// "float64", for messages.
[[nodiscard]] std::string element_name(int64_t number);

struct Tensor {
  Array values;  // bool as u8
  bool is_bool = false;
  bool is_weight = true;  // an initializer of floating point: a parameter; false: a constant
};

struct GraphDef;

struct Attribute {
  enum class Kind : uint8_t {
    none,
    number,
    integer,
    text,
    tensor,
    graph,
    numbers,
    integers,
    texts
  };
  Kind kind = Kind::none;
  double number = 0.0;
  int64_t integer = 0;
  std::string text;
  Tensor tensor;
  std::shared_ptr<const GraphDef> graph;
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
  std::string refers_to;  // in a function: the attribute of the call that it takes
};

struct NodeDef {
  std::string op;
  std::string domain;  // "": ONNX's own
  std::string name;
  std::vector<std::string> inputs;  // "": left out
  std::vector<std::string> outputs;
  std::map<std::string, Attribute> attributes;
  std::string described;  // how errors name it; empty: by its name and operator
};

struct Dim {
  int64_t size = -1;  // -1: not given
  std::string name;   // of a size that is not given
};

struct ValueInfo {
  std::string name;
  int64_t type = 0;  // TensorProto.DataType; 0: no tensor
  bool has_shape = false;
  std::vector<Dim> dims;
};

struct GraphDef {
  std::vector<NodeDef> nodes;
  std::map<std::string, Tensor> initializers;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
};

// Operators of thimble's own beside those of ONNX, for models that come from no file.
inline constexpr const char* kOwnDomain = "thimble";

using Opsets = std::map<std::string, int64_t>;  // versions by domain

struct FunctionDef {
  std::string name;
  std::string domain;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;
  std::map<std::string, Attribute> defaults;
  std::vector<NodeDef> nodes;
  Opsets opsets;
};

struct Model {
  GraphDef graph;
  Opsets opsets;
  std::vector<FunctionDef> functions;
};

// Reads the bytes of a model. path: the file that errors name, and whose folder external data lies
// in; without may_read, external data is an error. Throws Error.
[[nodiscard]] Model parse_model(const std::string& path, std::string_view bytes, bool may_read);
// Reads a file. Throws Error.
[[nodiscard]] Model read_model(const std::string& path);

}  // namespace thimble::importer::onnx
