// What the rules see that write a graph as an ONNX file.
#pragma once

#include <fmt/format.h>
#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/onnx/fresh_names.h"
#include "import/onnx/item.h"
#include "import/onnx/model.h"
#include "import/written.h"

namespace thimble::importer::onnx {

// For each axis of a tensor of the file, the axis of thimble's value: {0, 3, 1, 2} for images.
[[nodiscard]] Order channels_first(int rank);
// ONNX's number of an element type; 0: it has none.
[[nodiscard]] int64_t type_number(DType dtype);
// Whether the order moves no axis of more than one element.
[[nodiscard]] bool keeps_elements(const Shape& shape, const Order& order);

[[nodiscard]] Attribute attribute(double number);
[[nodiscard]] Attribute attribute(int64_t number);
[[nodiscard]] Attribute attribute(const char* text);
[[nodiscard]] Attribute attribute(const std::vector<int64_t>& numbers);
using Attributes = std::map<std::string, Attribute>;

class FileWriter;

// An op that is being written.
class Op : public WrittenOp {
 public:
  Op(FileWriter& file, int node);

  [[nodiscard]] FileWriter& file() { return file_; }
  [[nodiscard]] int rank(int i) const { return shape(i).rank(); }

  // The tensor of input i with its axes in thimble's order, or in another one.
  [[nodiscard]] std::string input(int i) { return input(i, plain_order(rank(i))); }
  [[nodiscard]] std::string input(int i, const Order& order);
  [[nodiscard]] std::string optional(int i) { return has(i) ? input(i) : std::string(); }
  // The element type of input i in the file, where nodes read numbers with a scale as f32.
  [[nodiscard]] DType element(int i) const {
    return type(i).quantization != nullptr ? DType::f32 : type(i).dtype;
  }
  // The bias of a layer, input 2: one of integers is in units of the products of input 0 with the
  // weights, input 1. Empty: it is left out.
  [[nodiscard]] std::string bias();
  // Whether anything reads result i.
  [[nodiscard]] bool is_read(int i) const;
  // As a tensor of bool.
  [[nodiscard]] std::string condition(int i, const Order& order);
  // The order in which it stands in the file.
  [[nodiscard]] Order order_of(int i) const;
  // The place of an axis of input 0, which may count from the last, in that order.
  [[nodiscard]] int64_t place_of(const Order& order, int64_t axis) const {
    return inverse(order)[static_cast<size_t>(axis < 0 ? axis + rank(0) : axis)];
  }
  // Inputs that broadcast, with their axes in one order: that of the largest one.
  [[nodiscard]] std::vector<std::string> broadcast(const std::vector<int>& inputs, Order& order,
                                                   bool as_bool = false);
  // Constants.
  [[nodiscard]] std::string integers(const std::vector<int64_t>& values);
  [[nodiscard]] std::string number(double value, DType dtype = DType::f32);
  [[nodiscard]] std::string floats(const std::vector<float>& values, const Shape& shape);
  // A shape as a tensor; the open batch is read from an input of the model.
  [[nodiscard]] std::string sizes(const Shape& shape);

  // Adds a node. Returns the name of its first result.
  std::string add(const char* op, const std::vector<std::string>& inputs,
                  const Attributes& attributes = {}, int results = 1);
  // x in another type; fails where ONNX has none such.
  std::string cast(const std::string& x, DType dtype);
  // x under another shape.
  std::string reshape(const std::string& x, const Shape& shape);
  // Result i is this tensor, with its axes in thimble's order or in another one.
  void give(const std::string& name) { give(0, name, plain_order(result().shape.rank())); }
  void give(const std::string& name, const Order& order) { give(0, name, order); }
  void give(int i, const std::string& name, const Order& order, bool is_bool = false);
  // The result with an activation behind it.
  void give(const std::string& name, const Order& order, Activation activation);

 private:
  FileWriter& file_;
};

using WriteRule = WriteRuleOf<Op>;
[[nodiscard]] std::span<const WriteRule> layer_writers();
[[nodiscard]] std::span<const WriteRule> element_writers();
[[nodiscard]] std::span<const WriteRule> shape_writers();
[[nodiscard]] std::span<const WriteRule> recurrent_writers();
[[nodiscard]] std::span<const WriteRule> quantized_writers();

// The file that is being written.
class FileWriter : public WrittenGraph {
 public:
  FileWriter(const ir::Graph& graph, const std::string& path);
  [[nodiscard]] Model run() &&;

  // Adds an initializer. Returns its name.
  std::string add_initializer(const std::string& wanted, Tensor tensor);
  // Result i of the node whose first result has this name.
  [[nodiscard]] std::string result_of(const std::string& first, size_t i) const;
  // Whether it draws random numbers, and so has no operators that came after opset 21.
  [[nodiscard]] bool draws() const { return draws_; }
  // A node that another one writes with itself.
  void absorb(int node) { absorbed_.insert(node); }
  [[nodiscard]] const std::vector<std::vector<int>>& readers() const { return readers_; }

 private:
  friend class Op;
  // A value as it stands in the file.
  struct Written {
    std::string name;
    Order order;
    bool is_bool = false;
  };

  [[nodiscard]] const Written& written(int value, const Order& order);
  [[nodiscard]] const Written& main_form(int value, const Order& order);
  // Numbers with scales are read as f32 in the file (write_quantized.cpp).
  void add_scale(const Quantization& q, std::vector<std::string>& inputs);
  [[nodiscard]] std::string dequantized(const std::string& integers, const Quantization& q,
                                        const Order& order);
  [[nodiscard]] std::string quantized(const std::string& x, const Quantization& q);
  // x rounded to what the integers of q stand for.
  [[nodiscard]] std::string rounded(const std::string& x, const Quantization& q);
  [[nodiscard]] ValueInfo info_of(const std::string& name, int value) const;
  std::string add_node(const char* op, const std::string& layer,
                       const std::vector<std::string>& inputs, const Attributes& attributes,
                       int results);
  [[nodiscard]] std::string open_batch();
  // Whether the model has integers with scales and operators of opset 20 alone. From 21 on
  // onnxruntime (up to 1.32 at least) fails to load files with a Transpose behind DequantizeLinear.
  [[nodiscard]] bool is_of_int8() const;

  Model model_;
  bool draws_ = false;
  std::map<int, std::vector<Written>> values_;  // the first form is the main one
  FreshNames names_;
  std::set<std::string> layers_;  // names of nodes, which are of the first node of a layer
  std::set<int> absorbed_;
  std::vector<std::vector<int>> readers_;        // nodes that read each value
  std::string batch_;                            // the tensor of the batch size; empty: not yet
  std::map<std::string, Quantization> rounded_;  // tensors that are rounded, and how
};

// Notes the nodes that recurrent layers write with themselves.
void absorb_projections(FileWriter& file);

}  // namespace thimble::importer::onnx
