// What writers of other formats share: the graph that is written, op by op.
#pragma once

#include <thimble/array.h>
#include <thimble/graph.h>

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace thimble::importer {

// Whether a size is the open batch, or a multiple of it.
[[nodiscard]] inline bool is_of_batch(int64_t size) { return size != 0 && size % kBatch == 0; }

// What the outputs of a graph compute, as at inference. Throws Error naming the file where there
// is no output.
[[nodiscard]] ir::Graph inference_graph(const Graph& graph, const std::string& path);

// The file appears whole or not at all.
void write_whole(const std::string& path, const std::string& bytes);

// A graph on its way into a file of this path, which errors name.
class WrittenGraph {
 public:
  WrittenGraph(const ir::Graph& graph, std::string path) : graph_(graph), path_(std::move(path)) {}

  [[nodiscard]] const ir::Graph& graph() const { return graph_; }
  [[noreturn]] void fail(const std::string& message) const;
  // Whether a value has numbers of its own, and these.
  [[nodiscard]] bool is_constant(int value) const;
  [[nodiscard]] Array values_of(int value) const;

 protected:
  // Weights of these bytes come into the file. Fails where they are too many.
  void count(const Array& weights);

 private:
  const ir::Graph& graph_;
  std::string path_;
  int64_t bytes_ = 0;  // of weights
};

// An op of such a graph.
class WrittenOp {
 public:
  WrittenOp(const WrittenGraph& file, const ir::Node& node) : written_(file), node_(node) {}

  template <class T>
  [[nodiscard]] const T& attrs() const {
    return node_.attrs.as<T>();
  }
  [[nodiscard]] std::string_view name() const { return node_.op->name; }
  [[nodiscard]] const ir::Node& node() const { return node_; }
  // The name of its layer; empty: none.
  [[nodiscard]] std::string layer() const;
  [[nodiscard]] bool has(int i) const { return node_.input(i) >= 0; }
  [[nodiscard]] const ir::TensorType& type(int i) const;
  [[nodiscard]] const Shape& shape(int i) const { return type(i).shape; }
  [[nodiscard]] const ir::TensorType& result(int i = 0) const;
  // Whether an op or an output of the graph reads result i.
  [[nodiscard]] bool is_read(int i) const;
  // Whether input i has values in the file, and these.
  [[nodiscard]] bool is_constant(int i) const { return written_.is_constant(node_.input(i)); }
  [[nodiscard]] Array values(int i) const { return written_.values_of(node_.input(i)); }

  [[noreturn]] void fail(const std::string& message) const;

 private:
  const WrittenGraph& written_;
  const ir::Node& node_;
};

// How one op is written, by an Op that is a WrittenOp.
template <class Op>
struct WriteRuleOf {
  const char* op;
  void (*write)(Op& op);
};

// Writes an op by the rule of its name.
template <class Op>
void write_by_rule(Op& op, std::initializer_list<std::span<const WriteRuleOf<Op>>> lists) {
  for (const auto list : lists) {
    for (const WriteRuleOf<Op>& rule : list) {
      if (rule.op == op.name()) return rule.write(op);
    }
  }
  op.fail("thimble knows no operator for it");
}

}  // namespace thimble::importer
