// What the rules see that write a graph as a TensorFlow Lite or circle file.
#pragma once

#include <fmt/format.h>
#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "import/tflite/file.h"
#include "import/written.h"
#include "tflite_generated.h"

namespace thimble::tflite {

// Layouts in which weights are written.
enum class Written {
  same,
  depthwise,   // [K, R, S, 1] becomes [1, R, S, K]
  transposed,  // [C, R, S, K] becomes [K, R, S, C], and [A, B] becomes [B, A]
};

// The options of an operator: their kind and their table.
struct Options {
  BuiltinOptions type = BuiltinOptions_NONE;
  flatbuffers::Offset<void> table = 0;
};

class FileWriter;

// An op that is being written.
class Op : public importer::WrittenOp {
 public:
  Op(FileWriter& file, const ir::Node& node);

  [[nodiscard]] bool is_int8(int i = 0) const { return type(i).dtype == DType::i8; }

  // The tensor of input i; of weights in a layout.
  [[nodiscard]] int input(int i, Written layout = Written::same);
  // The bias of input i for `channels` results, zeros where it is left out; of int8 in units of
  // x * weight, which joins_equal makes one unit where all are equal.
  [[nodiscard]] int bias(int i, int64_t channels, int x, int weight, bool joins_equal = false);
  // Weights [K, C] of int8; equal scales of all rows become one.
  [[nodiscard]] int rows(int i);
  // New constants; like_input: a number of the type of x, of int8 the integer itself.
  [[nodiscard]] int numbers(const std::vector<int64_t>& values);
  [[nodiscard]] int numbers(const std::vector<int64_t>& values, const Shape& shape);
  [[nodiscard]] int number(double value);
  [[nodiscard]] int floats(const std::vector<float>& values, const Shape& shape);
  [[nodiscard]] int like_input(double value);
  // A tensor between operators of one op: its type is that of the result, of this shape.
  [[nodiscard]] int between(const Shape& shape);
  [[nodiscard]] int between(const ir::TensorType& type);
  // The tensor of result i.
  [[nodiscard]] int output(int i = 0);

  [[nodiscard]] flatbuffers::FlatBufferBuilder& builder();
  template <class T>
  [[nodiscard]] Options options(BuiltinOptions type, flatbuffers::Offset<T> table) {
    return {type, table.Union()};
  }
  // Adds an operator; from: -1 where an input is left out.
  void add(int code, int version, const Options& options, const std::vector<int>& from,
           const std::vector<int>& to);
  // The same with the version of most operators: 1, and 2 of int8.
  void add(int code, const Options& options, const std::vector<int>& from,
           const std::vector<int>& to) {
    add(code, is_int8() ? 2 : 1, options, from, to);
  }
  // A tensor as one of another shape; to: the tensor that it becomes, -1 for one between operators.
  int reshaped(int x, const Shape& shape, int to = -1);
  // Result i is the same as input 0: no operator is written.
  void pass();
  // Result 0 is a constant: no operator is written.
  void give(const std::vector<float>& values);

 private:
  FileWriter& file_;
};

using WriteRule = importer::WriteRuleOf<Op>;
[[nodiscard]] std::span<const WriteRule> attention_writers();
[[nodiscard]] std::span<const WriteRule> layer_writers();
[[nodiscard]] std::span<const WriteRule> element_writers();
[[nodiscard]] std::span<const WriteRule> recurrent_writers();
[[nodiscard]] std::span<const WriteRule> shape_writers();

[[nodiscard]] ActivationFunction function_of(Activation activation);
// The number of a type of forward graphs in files; below 0: files do not hold it.
[[nodiscard]] int8_t type_number(DType dtype);
// A shape of the file: the batch counts as 1.
[[nodiscard]] std::vector<int64_t> written_sizes(const Shape& shape);
// The same, with -1 for a dimension 0 with the open batch.
[[nodiscard]] std::vector<int64_t> open_sizes(const Shape& shape);

// The file that is being written.
class FileWriter : public importer::WrittenGraph {
 public:
  FileWriter(const ir::Graph& graph, const std::string& path);
  // The bytes of the file.
  [[nodiscard]] std::string run() &&;

 private:
  friend class Op;
  struct TensorText {
    std::string name;
    ir::TensorType type;
    Array data;  // of a constant
    bool is_constant = false;
  };
  struct Code {
    int code;
    int version;
    bool operator<(const Code& other) const {
      return std::pair(code, version) < std::pair(other.code, other.version);
    }
  };

  [[nodiscard]] int add_tensor(TensorText tensor);
  [[nodiscard]] int tensor_of(int value, Written layout);
  [[nodiscard]] std::string finish();

  bool is_circle_;
  flatbuffers::FlatBufferBuilder builder_{1 << 16};
  std::vector<TensorText> tensors_;
  std::map<std::pair<int, int>, int> tensor_by_value_;  // and layout
  std::map<int, std::string> output_names_;             // by value
  std::map<Code, uint32_t> codes_;
  std::vector<Code> code_order_;
  std::vector<flatbuffers::Offset<Operator>> operators_;
};

}  // namespace thimble::tflite
