// One node that is being imported: its inputs, attributes and results.
#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <string>
#include <vector>

#include "import/onnx/importer.h"

namespace thimble::importer::onnx {

class Node {
 public:
  Node(Importer& importer, const NodeDef& def, Scope& scope, int64_t opset, const Opsets& opsets,
       int depth)
      : importer_(importer),
        def_(def),
        scope_(scope),
        opset_(opset),
        opsets_(opsets),
        depth_(depth) {}

  [[nodiscard]] Importer& importer() const { return importer_; }
  [[nodiscard]] ir::Graph& graph() { return importer_.graph(); }
  [[nodiscard]] const NodeDef& def() const { return def_; }
  [[nodiscard]] const std::string& op() const { return def_.op; }
  [[nodiscard]] int64_t opset() const { return opset_; }
  // Whether it is one of the model's own, not of a function or of a graph within a node.
  [[nodiscard]] bool is_main() const { return depth_ == 0; }
  [[noreturn]] void fail(const std::string& what) const;
  void require(bool fine, const std::string& what) const {
    if (!fine) fail(what);
  }

  [[nodiscard]] size_t inputs() const { return def_.inputs.size(); }
  [[nodiscard]] bool has(size_t i) const { return i < inputs() && !def_.inputs[i].empty(); }
  // Throws Error where the input is left out.
  [[nodiscard]] const Item& item(size_t i) const;
  // A tensor that another node reads; null: it is not there yet.
  [[nodiscard]] const Item* find_item(const std::string& name) const { return scope_.find(name); }
  [[nodiscard]] int rank(size_t i) const { return item(i).rank(); }
  [[nodiscard]] Shape shape(size_t i) const { return item(i).shape(); }
  // The input with its axes in ONNX order, or in another one. Throws Error where it is left out.
  Value value(size_t i) { return importer_.value(item(i)); }
  // The same, or none.
  Value optional(size_t i) { return has(i) ? value(i) : Value(); }
  Value value(size_t i, const Order& order) { return importer_.value(item(i), order); }
  // The input as it is stored, and the order of its axes. Known numbers are in ONNX order.
  Value stored(size_t i, Order& order);
  // The numbers of an input that must be known when importing.
  [[nodiscard]] std::vector<int64_t> integers_of(size_t i) const;
  [[nodiscard]] std::vector<double> numbers_of(size_t i) const;
  // The one number of such an input.
  [[nodiscard]] int64_t integer_of(size_t i) const;
  [[nodiscard]] double number_of(size_t i) const;
  [[nodiscard]] bool is_known(size_t i) const { return has(i) && item(i).known.has_value(); }

  [[nodiscard]] bool has_attribute(const char* name) const { return find(name) != nullptr; }
  [[nodiscard]] double number(const char* name, double otherwise) const;
  [[nodiscard]] int64_t integer(const char* name, int64_t otherwise) const;
  [[nodiscard]] std::string text(const char* name, const std::string& otherwise) const;
  [[nodiscard]] std::vector<int64_t> integers(const char* name) const;
  [[nodiscard]] std::vector<double> numbers(const char* name) const;
  [[nodiscard]] std::vector<std::string> texts(const char* name) const;
  [[nodiscard]] const Attribute* find(const char* name) const;
  // An axis counted from 0.
  [[nodiscard]] int axis_of(int64_t axis, int rank) const;
  // Axes of the attribute "axes", or of input i since the opset that made it one; none: empty.
  [[nodiscard]] std::vector<int64_t> axes(size_t i, int64_t since) const;

  // Whether the node's result is read, or named at all.
  [[nodiscard]] bool gives(size_t output) const {
    return output < def_.outputs.size() && !def_.outputs[output].empty();
  }
  void give(size_t output, Item item);
  // A value whose axes are in ONNX order, or in another one.
  void give(Value value) { give(0, value, plain_order(value.shape().rank())); }
  void give(Value value, const Order& order) { give(0, value, order); }
  void give(size_t output, Value value, const Order& order, bool is_bool = false);
  void give(size_t output, Value value) { give(output, value, plain_order(value.shape().rank())); }
  // Numbers that are known.
  void give_known(size_t output, Array values, bool is_bool = false, bool of_shape = false);
  // The result of another node.
  void give_as(const NodeDef& other, Item item);

  // The items that a graph within this node gives.
  std::vector<Item> add_graph(const GraphDef& inner) {
    return importer_.add_graph(inner, scope_, opsets_, depth_);
  }

 private:
  Importer& importer_;
  const NodeDef& def_;
  Scope& scope_;
  int64_t opset_;
  const Opsets& opsets_;
  int depth_;
};

// Inputs that broadcast as in NumPy, with their axes in one order: that of the largest one.
struct Broadcast {
  std::vector<Value> values;
  Order order;  // of the result
};
Broadcast broadcast(Node& node, const std::vector<size_t>& inputs);

// Element-wise results have the type of the first of two inputs; a constant takes that of a value.
[[nodiscard]] Value as_type(Value x, DType dtype);

}  // namespace thimble::importer::onnx
