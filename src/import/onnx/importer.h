// From an ONNX model to a graph.
#pragma once

#include <thimble/import.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/item.h"
#include "import/onnx/model.h"
#include "import/onnx/onnx.h"
#include "ir/graph.h"

namespace thimble::importer::onnx {

// The tensors that nodes of one graph may read.
struct Scope {
  std::map<std::string, Item> items;
  const Scope* outer = nullptr;

  [[nodiscard]] const Item* find(const std::string& name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
      const auto found = scope->items.find(name);
      if (found != scope->items.end()) return &found->second;
    }
    return nullptr;
  }
};

class Importer {
 public:
  // Adds to `graph`. path: the file that errors name. In a function initializers are constants, in
  // a model parameters.
  Importer(std::string path, const Model& model, ir::Graph& graph, bool is_function)
      : path_(std::move(path)), model_(model), graph_(&graph), is_function_(is_function) {}

  // The nodes of the main graph, in a scope that has its inputs.
  void run(Scope& scope);
  // Of the initializers that were read so far.
  [[nodiscard]] std::vector<WeightLayout> layouts() const;

  [[nodiscard]] ir::Graph& graph() { return *graph_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  // Whether the model becomes a part of another graph, for inference.
  [[nodiscard]] bool is_function() const { return is_function_; }
  // The batch size that the file has; 0: it is open.
  [[nodiscard]] int64_t fixed_batch() const { return fixed_batch_; }
  void set_fixed_batch(int64_t batch) { fixed_batch_ = batch; }

  // The tensor with its axes in an order; other dimensions of 1 as they come.
  Value value(const Item& item, const Order& order);
  Value value(const Item& item) { return value(item, plain_order(item.rank())); }
  // The tensor, of axes in an order, as a value of another shape of as many elements.
  Value value(const Item& item, const Order& order, const Shape& shape);
  // The known numbers of a tensor in ONNX order; null where it is computed.
  [[nodiscard]] static std::optional<Array> known(const Item& item);

  // Imports the nodes of a graph or a function.
  void add_nodes(const std::vector<NodeDef>& nodes, Scope& scope, const Opsets& opsets, int depth);
  // The nodes of a graph within a node, as `If` has them. Returns the items of its outputs.
  std::vector<Item> add_graph(const GraphDef& inner, const Scope& outer, const Opsets& opsets,
                              int depth);
  // A constant of the graph.
  Value constant(const Array& values);
  // x, of f32, rounded to steps; axis: which several scales count; parts: of how many numbers in
  // whole steps x is the mean.
  Value rounded(const Value& x, const Steps& steps, int axis = 0, int64_t parts = 1);
  // The nodes that read this tensor of the main graph; null: an output of the model, or a node of a
  // graph within a node.
  [[nodiscard]] std::vector<const NodeDef*> readers_of(const std::string& name) const;
  // The node that alone reads this tensor of the main graph; null: there are several or none.
  [[nodiscard]] const NodeDef* only_reader(const std::string& name) const;
  // Integers of an initializer become numbers of f32. Fails where a file has this done over and
  // over.
  void count_dequantized(int64_t elements);
  // The node has been imported together with another one.
  void mark_done(const NodeDef& node) { done_.insert({&node, true}); }

 private:
  void add_node(const NodeDef& node, Scope& scope, const Opsets& opsets, int depth);
  void call(const FunctionDef& function, const NodeDef& node, Scope& scope, int depth);
  [[nodiscard]] const FunctionDef* function_of(const NodeDef& node) const;
  void note_inner_readers(const NodeDef& node);
  // Where the node's operator keeps integers, its result has the steps of its input.
  static void hand_on_steps(const NodeDef& node, Scope& scope);
  void fold(const NodeDef& node, Scope& scope, const std::function<void()>& convert);
  void check_rank(const Item& item, const Order& order) const;
  Value weight(const Item& item, const Order& order, const Shape& shape);
  Value unrounded(const Item& item, const Order& order, const Shape& shape);
  [[nodiscard]] std::string new_name(const std::string& wanted);

  std::string path_;
  const Model& model_;
  ir::Graph* graph_;
  bool is_function_;
  int64_t folded_ = 0;       // elements of constants computed so far
  int64_t initial_ = 0;      // elements of initializers
  int64_t dequantized_ = 0;  // elements of them, and of copies
  bool folds_ = false;       // constants are computed in a graph of their own
  int64_t fixed_batch_ = 0;
  std::map<std::pair<int, Order>, Value> transposed_;  // by value and order
  std::map<std::string, std::vector<const NodeDef*>> readers_;
  std::map<const NodeDef*, bool> done_;
  std::map<std::string, int> layers_;
  std::vector<std::shared_ptr<Weight>> weights_;  // of initializers
};

// Whether numbers hold the open batch size.
[[nodiscard]] bool has_open_batch(const Array& values);

}  // namespace thimble::importer::onnx
