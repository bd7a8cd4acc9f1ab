// What the rules of operators see while a file becomes a graph.
#pragma once

#include <fmt/format.h>
#include <thimble/attributes.h>
#include <thimble/graph.h>
#include <thimble/requantization.h>

#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "import/tflite/file.h"
#include "tflite_generated.h"

namespace thimble::tflite {

class Node;

// How one kind of operator becomes ops.
struct Rule {
  int code;
  const char* name;
  void (*build)(Node& node);
  // Inputs after these are settings alone: what computes them is left out. 0: all are data.
  int data_inputs = 0;
};
// The rules of each file, and of all of them; null: thimble does not read the operator.
[[nodiscard]] std::span<const Rule> layer_rules();
[[nodiscard]] std::span<const Rule> recurrent_rules();
[[nodiscard]] std::span<const Rule> pool_rules();
[[nodiscard]] std::span<const Rule> element_rules();
[[nodiscard]] std::span<const Rule> shape_rules();
[[nodiscard]] const Rule* find_rule(int code);
// "CONV_2D"; for messages.
[[nodiscard]] std::string operator_name(const OperatorInfo& info);

// The graph that is being built.
struct Building {
  explicit Building(const File& of)
      : file(of), values(of.tensors().size()), unfolded(of.tensors().size()) {
    for (size_t i = 0; i < unfolded.size(); ++i) unfolded[i] = static_cast<int>(i);
  }

  const File& file;
  Graph graph;
  int64_t batch = 1;          // dimension 0 of the file's inputs
  std::vector<Value> values;  // by tensor
  // By tensor, the constant that DEQUANTIZE makes it of, else the tensor itself.
  std::vector<int> unfolded;
  std::map<std::pair<int, int>, Value> parameters;         // by tensor and layout
  std::map<std::string, int> tensor_of;                    // by parameter
  std::map<std::string, std::array<int64_t, 3>> reversed;  // as Network has it
  Value one;                                               // an int8 weight of 1, once there is one
};

// The layouts in which weights become parameters.
enum class Layout {
  same,
  depthwise,   // [1, R, S, K] becomes [K, R, S, 1]
  transposed,  // [K, R, S, C] becomes [C, R, S, K]
  flat,        // one dimension
  rows,        // the same, with a scale for every index of dimension 0
};

// An operator that is being built.
class Node {
 public:
  Node(Building& building, size_t number)
      : building_(building), number_(number), info_(building.file.operators()[number]) {}

  [[nodiscard]] int inputs() const { return static_cast<int>(info_.inputs.size()); }
  [[nodiscard]] int outputs() const { return static_cast<int>(info_.outputs.size()); }
  // Whether input i is given.
  [[nodiscard]] bool has(int i) const;
  // The tensor of input i, which must be given, and of output i.
  [[nodiscard]] const TensorInfo& tensor(int i) const;
  [[nodiscard]] const TensorInfo& result(int i = 0) const;
  // Whether input i is i8, not to be computed as f32.
  [[nodiscard]] bool is_int8(int i = 0) const;
  [[nodiscard]] bool is_constant(int i) const;

  // Input i as a value; constants become constants of the graph, f16 and i8 for f32 become f32.
  [[nodiscard]] Value input(int i);
  // The constant of input i: its integers, of i32 or i64; the only one; or f32 of any type.
  [[nodiscard]] std::vector<int64_t> integers(int i) const;
  [[nodiscard]] int64_t integer(int i) const;
  [[nodiscard]] Array floats(int i) const;
  // The constant of input i as a parameter: f32, or i8 and i32 as they are where raw. name: of a
  // new one.
  [[nodiscard]] Value parameter(int i, const std::string& name, bool raw,
                                Layout layout = Layout::same);

  // A constant of the graph that is none of the file.
  [[nodiscard]] Value constant(const std::string& name, const Array& values) {
    return building_.graph.constant(name, values);
  }

  // The options of this kind; fails where there are others, or none.
  template <class T>
  [[nodiscard]] const T& options(BuiltinOptions type) const {
    const T* const found = options_if<T>(type);
    if (found == nullptr) fail("it has no options");
    return *found;
  }
  // Null where it has none, which means all their defaults.
  template <class T>
  [[nodiscard]] const T* options_if(BuiltinOptions type) const {
    if (info_.table->builtin_options_type() == BuiltinOptions_NONE) return nullptr;
    if (info_.table->builtin_options_type() != type) fail("it has options of another operator");
    return static_cast<const T*>(info_.table->builtin_options());
  }

  // The attributes of a quantized op, with scale and zero point of output 0.
  template <class T>
  [[nodiscard]] T scaled(T attrs) const {
    const Quantization& q = quantization_of_result();
    attrs.scale = static_cast<double>(q.scales[0]);
    attrs.zero_point = q.zero_points.empty() ? 0 : q.zero_points[0];
    attrs.requantization = Requantization::fixed_point;
    return attrs;
  }
  [[nodiscard]] const Quantization& quantization_of_result() const;

  // An axis of a value, counted from the first; fails where there is none, or it is the batch.
  [[nodiscard]] int64_t axis(const Value& x, int64_t axis) const;
  // Whether dimension 0 is or has the open batch.
  [[nodiscard]] static bool has_batch(const Value& x);
  // x under the shape of an output.
  [[nodiscard]] Value shaped(const Value& x, int output = 0) const;

  // int8 under the scale of the result and within these bounds, as the reference kernels of RELU
  // and RELU6 compute it.
  [[nodiscard]] Value clamped(const Value& x, Activation bounds);

  // What output i is. Checks type, shape and quantization against the file's.
  void give(const Value& value, int output = 0);

  [[nodiscard]] ir::Graph& ir() const { return building_.graph.ir(); }
  [[noreturn]] void fail(const std::string& message) const;

 private:
  [[nodiscard]] Value constant(int tensor);
  [[nodiscard]] Array contents(int tensor) const;
  // The number of the tensor of input i, before DEQUANTIZE.
  [[nodiscard]] int source(int i) const;

  Building& building_;
  size_t number_;
  const OperatorInfo& info_;
};

// An activation that follows f32, and one that is the bounds of an int8 result; the latter fails
// for others than RELU and RELU6.
[[nodiscard]] Value activated(const Node& node, const Value& x, ActivationFunction function);
[[nodiscard]] Activation bounds_of(const Node& node, ActivationFunction function);

}  // namespace thimble::tflite
