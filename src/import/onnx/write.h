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

#include "import/onnx/item.h"
#include "import/onnx/model.h"
#include "ir/graph.h"

namespace thimble::importer::onnx {

// For each axis of a tensor of the file, the axis of thimble's value: {0, 3, 1, 2} for images.
[[nodiscard]] Order channels_first(int rank);
// Whether the order moves no axis of more than one element.
[[nodiscard]] bool keeps_elements(const Shape& shape, const Order& order);

[[nodiscard]] Attribute attribute(double number);
[[nodiscard]] Attribute attribute(int64_t number);
[[nodiscard]] Attribute attribute(const char* text);
[[nodiscard]] Attribute attribute(const std::vector<int64_t>& numbers);
using Attributes = std::map<std::string, Attribute>;

class FileWriter;

// An op that is being written.
class Op {
 public:
  Op(FileWriter& file, int node);

  template <class T>
  [[nodiscard]] const T& attrs() const {
    return node_.attrs.as<T>();
  }
  [[nodiscard]] std::string_view name() const { return node_.op->name; }
  [[nodiscard]] const ir::Node& node() const { return node_; }
  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] FileWriter& file() { return file_; }
  [[nodiscard]] bool has(int i) const { return node_.input(i) >= 0; }
  [[nodiscard]] const ir::TensorType& type(int i) const;
  [[nodiscard]] const Shape& shape(int i) const { return type(i).shape; }
  [[nodiscard]] int rank(int i) const { return shape(i).rank(); }
  [[nodiscard]] const ir::TensorType& result(int i = 0) const;
  // Whether input i has values in the file, and these.
  [[nodiscard]] bool is_constant(int i) const;
  [[nodiscard]] Array values(int i) const;

  // The tensor of input i with its axes in thimble's order, or in another one.
  [[nodiscard]] std::string input(int i) { return input(i, plain_order(rank(i))); }
  [[nodiscard]] std::string input(int i, const Order& order);
  [[nodiscard]] std::string optional(int i) { return has(i) ? input(i) : std::string(); }
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
  // x under another shape.
  std::string reshape(const std::string& x, const Shape& shape);
  // Result i is this tensor, with its axes in thimble's order or in another one.
  void give(const std::string& name) { give(0, name, plain_order(result().shape.rank())); }
  void give(const std::string& name, const Order& order) { give(0, name, order); }
  void give(int i, const std::string& name, const Order& order, bool is_bool = false);
  // The result with an activation behind it.
  void give(const std::string& name, const Order& order, Activation activation);

  [[noreturn]] void fail(const std::string& message) const;

 private:
  FileWriter& file_;
  int index_;
  const ir::Node& node_;
};

// How one op is written.
struct WriteRule {
  const char* op;
  void (*write)(Op& op);
};
[[nodiscard]] std::span<const WriteRule> layer_writers();
[[nodiscard]] std::span<const WriteRule> element_writers();
[[nodiscard]] std::span<const WriteRule> shape_writers();
[[nodiscard]] std::span<const WriteRule> recurrent_writers();

// The file that is being written.
class FileWriter {
 public:
  FileWriter(const ir::Graph& graph, std::string path);
  [[nodiscard]] Model run() &&;

  [[nodiscard]] const ir::Graph& graph() const { return graph_; }
  [[nodiscard]] Array values_of(int value) const;
  [[nodiscard]] bool is_constant(int value) const;
  // Adds an initializer. Returns its name.
  std::string add_initializer(const std::string& wanted, Tensor tensor);
  // Result i of the node whose first result has this name.
  [[nodiscard]] std::string result_of(const std::string& first, size_t i) const;
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

  [[noreturn]] void fail(const std::string& message) const;
  [[nodiscard]] std::string fresh(const std::string& wanted);
  [[nodiscard]] const Written& written(int value, const Order& order);
  [[nodiscard]] const Written& main_form(int value, const Order& order);
  [[nodiscard]] ValueInfo info_of(const std::string& name, int value) const;
  std::string add_node(const char* op, const std::string& layer,
                       const std::vector<std::string>& inputs, const Attributes& attributes,
                       int results);
  [[nodiscard]] std::string open_batch();

  const ir::Graph& graph_;
  std::string path_;
  Model model_;
  std::map<int, std::vector<Written>> values_;  // the first form is the main one
  std::set<std::string> names_;
  std::set<std::string> layers_;  // names of nodes, which are of the first node of a layer
  std::set<int> absorbed_;
  std::vector<std::vector<int>> readers_;  // nodes that read each value
  std::string batch_;                      // the tensor of the batch size; empty: not yet
  int64_t bytes_ = 0;
};

// Notes the nodes that recurrent layers write with themselves.
void absorb_projections(FileWriter& file);

}  // namespace thimble::importer::onnx
