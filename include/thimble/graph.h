// Describing a model: a Graph of values that ops connect.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include <thimble/array.h>
#include <thimble/initializer.h>
#include <thimble/quantization.h>
#include <thimble/types.h>

namespace thimble {

namespace ir {
class Graph;
class FieldVisitor;   // what an op's describe shows the fields of its attributes
class OptionVisitor;  // likewise a layer's options
}  // namespace ir

// A handle to one tensor of a graph: cheap to copy, valid as long as its graph lives.
// A default-made Value stands for "none": an optional input left out.
class Value {
 public:
  Value() = default;
  Value(ir::Graph* graph, int id) : graph_(graph), id_(id) {}

  explicit operator bool() const { return graph_ != nullptr; }
  [[nodiscard]] const Shape& shape() const;
  [[nodiscard]] DType dtype() const;
  // Null where its numbers stand for themselves.
  [[nodiscard]] const Quantization* quantization() const;
  [[nodiscard]] const std::string& name() const;

  // Used by op definitions.
  [[nodiscard]] ir::Graph& graph() const { return *graph_; }
  [[nodiscard]] int id() const { return id_; }
  bool operator==(const Value&) const = default;

 private:
  ir::Graph* graph_ = nullptr;
  int id_ = -1;
};

// A model: inputs, labels, parameters, the ops between them, outputs and the loss.
// Ops are free functions on Values (thimble/ops.h). The batch size is left open ("N", the first
// dimension of inputs and labels) and is fixed when the graph is compiled.
// Thread safety: none while being built; a finished graph may be read from many threads.
// Names of values and layers are free, but none begins with '@': these are thimble's own.
// Errors: thimble::Error naming the op or the name at fault.
class Graph {
 public:
  Graph();
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  // A model input of shape [N, sample...]. An axis of a quantization counts the batch as 0.
  Value input(const std::string& name, const Shape& sample, DType dtype = DType::f32,
              const Quantization& quantization = {});
  // A target of the training, of shape [N, sample...]; class indices by default.
  Value label(const std::string& name, const Shape& sample = {}, DType dtype = DType::i32);
  // A tensor of a fixed shape, kept from step to step. Those of type f32 are trained unless they
  // are frozen; those of other types are frozen from the beginning (see unfreeze), and their
  // initial values can only be constant (init::zeros, ones, constant): load or set others.
  Value parameter(const std::string& name, const Shape& shape, const Initializer& init,
                  DType dtype = DType::f32, const Quantization& quantization = {});
  // A fixed tensor of given values; a view is copied.
  Value constant(const std::string& name, const Array& values,
                 const Quantization& quantization = {});
  Value constant(const std::string& name, const Shape& shape, std::vector<float> values);

  // The loss, a scalar. A graph has one.
  void minimize(Value loss);
  // A result that predict returns under this name. No other output may have it.
  void output(const std::string& name, Value value);
  // An f32 scalar to report beside the loss, averaged over samples. No other metric may have its
  // name.
  void metric(const std::string& name, Value value);
  // Freezes the parameters whose names match the pattern ("encoder.*"; * stands for any
  // characters). Returns how many matched; none is an error.
  int freeze(const std::string& pattern);
  // The opposite, for parameters that can be trained: of f32, and the weights (i8 with a scale) and
  // biases (i32) of quantized layers. Returns how many it is for; none is an error.
  int unfreeze(const std::string& pattern);

  // One line per op: names, types, attributes.
  [[nodiscard]] std::string text() const;
  // A table of layers: name, type, output shape, parameters, inputs. With parameters also one of
  // these: name, shape, type, bytes, trained or frozen, the layer that reads it.
  [[nodiscard]] std::string summary(bool parameters = false) const;

  // Used by the compiler.
  [[nodiscard]] ir::Graph& ir() { return *graph_; }
  [[nodiscard]] const ir::Graph& ir() const { return *graph_; }

 private:
  std::unique_ptr<ir::Graph> graph_;
};

}  // namespace thimble
