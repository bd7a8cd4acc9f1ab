// The static, typed graph of a training step.
#pragma once

#include <thimble/graph.h>
#include <thimble/initializer.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/op_def.h"
#include "ir/shared.h"

namespace thimble::ir {

enum class Role : uint8_t {
  input,      // a field of the batch
  label,      // likewise
  parameter,  // trained, kept from step to step
  state,      // moments, running statistics: kept from step to step
  constant,   // given values
  scalar,     // set by the trainer before each step: learning rate, step number, random state
  activation,
  gradient,
};
[[nodiscard]] const char* to_string(Role role);

// Whether a value lies outside the arena and outlives the step.
[[nodiscard]] inline bool is_persistent(Role role) {
  return role == Role::parameter || role == Role::state || role == Role::constant;
}

// The form in which a planner keeps a value for later.
enum class Storage : uint8_t {
  full,
  bits,         // one bit per element
  bits16,       // 16 bits per element
  from_bits16,  // the original type, converted back from 16 bits
};

struct ValueData {
  Name name;  // a copy that the planner makes of a value has the value's name
  TensorType type;
  Role role = Role::activation;
  bool trainable = true;
  bool sums_gradients = false;  // a state: the sum of a parameter's gradients since its last update
  Name average_of;  // a state: the average of the parameter of this name; empty: it is none
  Storage storage = Storage::full;
  bool recomputed = false;   // computed a second time, by the same node or a cheaper one
  bool fetched = false;      // read back from the swap file
  int producer = -1;         // node, or -1 for a source
  Shared<Initializer> init;  // parameters and state
  Shared<Array> data;        // constants: of their type
  Shared<TrainedPart> trained_part = {};  // a parameter: what is trained of it, if it is trainable
};

// The gradient that an update reads, computed some rows at a time while the update runs, so that
// the whole gradient never exists: a loop over two kernels.
struct TiledGradient {
  const OpDef* op = nullptr;  // has a PartRule
  Attrs attrs;
  int64_t rows = 0;  // of the parameter in a tile; the last tile may have fewer
};

struct Node {
  const OpDef* op = nullptr;
  Attrs attrs;
  std::vector<int> inputs;  // -1: an optional input left out
  std::vector<int> outputs;
  int layer = -1;
  // A tiled update (tiling.h): the inputs that the op declares, the gradient left out, are followed
  // by those that the gradient is computed from. Null for all other nodes.
  std::shared_ptr<const TiledGradient> tiled = nullptr;

  // Input i, -1 where it is left out.
  [[nodiscard]] int input(int i) const {
    return static_cast<size_t>(i) < inputs.size() ? inputs[static_cast<size_t>(i)] : -1;
  }
};

// The name and what a planner did, as reports say it: "x (recomputed)", "x (16 bits)".
[[nodiscard]] std::string label(const ValueData& data);

// A part of the model as its author named it, for summaries and reports.
struct Layer {
  std::string name;
  std::string type;
};

// The first character of names of thimble's own: of sources beside those that the author of a model
// names. Graph::source refuses it, so that no other name is ever equal to one.
inline constexpr char kOwnPrefix = '@';
[[nodiscard]] inline bool is_own_name(std::string_view name) {
  return !name.empty() && name.front() == kOwnPrefix;
}

// Random ops read it: {seed low, high, step low, high, first sample, samples}, u32; random.h.
inline constexpr const char* kRngName = "@rng";

// Nodes stand in an order in which they can run. Values and nodes are numbered from 0.
class Graph {
 public:
  std::deque<ValueData> values;  // a deque: references stay valid while values are added
  std::vector<Node> nodes;
  std::vector<Layer> layers;
  std::optional<int> loss;
  std::vector<std::pair<std::string, int>> outputs;
  std::vector<std::pair<std::string, int>> metrics;

  Graph() = default;
  Graph(const Graph&) = default;  // Values of one copy are not Values of the other
  Graph(Graph&&) = default;
  Graph& operator=(const Graph&) = default;
  Graph& operator=(Graph&&) = default;

  // Adds a value without producer. The name must be new and none of thimble's own. Throws Error.
  Value source(const std::string& name, TensorType type, Role role, Initializer init = {});
  // The same with a name of thimble's own, which begins with kOwnPrefix.
  Value own_source(const std::string& name, TensorType type, Role role, Initializer init = {});
  // Adds a copy of a source of another graph, whatever its name.
  Value copy_source(const ValueData& data);
  // A constant of thimble's own: the one of this name, or a new one of the values that make()
  // gives.
  template <class Make>
  Value own_constant(const std::string& name, const Make& make) {
    const Value known = find_source(name);
    return known ? known : add_own_constant(name, make());
  }
  // Until the next call, new parameters of these names are these values instead of new sources. So
  // a layer becomes a function of given weights.
  void give(const std::map<std::string, Value>& parameters);
  // The scalar source of that name, one of thimble's own, added on first use.
  Value scalar(const std::string& name, DType dtype, const Shape& shape = {});
  // A source by its name, or none.
  [[nodiscard]] Value find_source(const std::string& name);

  // Adds a node. Checks inputs and infers types; throws Error. Inputs may be none.
  std::vector<Value> add(const OpDef& op, Attrs attrs, std::span<const Value> inputs);
  // add for an op with one output.
  Value add1(const OpDef& op, Attrs attrs, std::initializer_list<Value> inputs);

  [[nodiscard]] Value value(int id) { return id < 0 ? Value() : Value(this, id); }
  [[nodiscard]] const ValueData& data(int id) const { return values[static_cast<size_t>(id)]; }
  [[nodiscard]] const TensorType& type(int id) const { return data(id).type; }

  // The final contents of the storage of a parameter or state: the value itself, or the output of
  // the last node that updates it.
  [[nodiscard]] int updated(int id) const;
  // The node that computes a value, or null for a source and for -1. Adding nodes moves it.
  [[nodiscard]] const Node* producer_of(int id) const;
  // The same node if it is of this op, else null.
  [[nodiscard]] const Node* producer_of(int id, const OpDef& op) const;
  // Nodes that read each value.
  [[nodiscard]] std::vector<std::vector<int>> consumers() const;
  // How often nodes read each value. A node counts as often as it reads the value.
  [[nodiscard]] std::vector<int> read_counts() const;
  // By value: whether one node alone reads it, and once. A result is read outside, too.
  [[nodiscard]] std::vector<char> read_once() const;
  // Values that must be computed: loss, outputs, metrics.
  [[nodiscard]] std::vector<int> results() const;

  // Layers: nodes added between begin and end belong to it; within another layer both do nothing.
  // An empty name becomes type_1, type_2, ... Returns the name.
  std::string begin_layer(const std::string& type, const std::string& name);
  void end_layer();
  // Continues an earlier layer (-1: none): gradient nodes belong to the layer they come from.
  void reopen_layer(int layer);

 private:
  Value add_own_constant(const std::string& name, Array values);
  // Checks the type and adds it. Throws Error.
  Value add_source(ValueData data);
  // Position of the source of that name, or where it would be inserted.
  using Sources = std::vector<std::pair<Name, int>>;
  [[nodiscard]] Sources::const_iterator source_at(std::string_view name) const;

  Sources sources_;  // sorted by name
  std::map<std::string, int> given_;
  std::map<std::string, int> layer_counts_;
  int open_layers_ = 0;
  int current_layer_ = -1;
};

// Keeps a layer open during a builder function.
class LayerScope {
 public:
  LayerScope(Graph& graph, const char* type, const std::string& name)
      : graph_(graph), name_(graph.begin_layer(type, name)) {}
  ~LayerScope() { graph_.end_layer(); }
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  Graph& graph_;
  std::string name_;
};

// The shape of the part of a tensor.
[[nodiscard]] Shape part_shape(const Shape& shape, const TrainedPart& part);
// The indices of a parameter that is trained in part, as a constant of the graph: [count], i32.
[[nodiscard]] Value trained_indices(Graph& graph, int id);

// The kernels for a node.
[[nodiscard]] ChosenKernels kernels_of(const Graph& graph, const Node& node);

// The graph with the open batch fixed: every shape rule runs with the real size. Throws Error
// naming the op that does not fit.
[[nodiscard]] Graph with_batch(const Graph& graph, int64_t batch);

// One line per node: "%5 f32[N, 10] = dense(%1, %2, %3) {transpose_b=true}".
[[nodiscard]] std::string text(const Graph& graph);

// Checks the rules every graph keeps (the table in verify.cpp). Throws Error naming rule and node.
void verify(const Graph& graph);

}  // namespace thimble::ir
