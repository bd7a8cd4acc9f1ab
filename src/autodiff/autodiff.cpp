#include "autodiff/autodiff.h"

#include <fmt/format.h>

#include <algorithm>

#include "autodiff/rule_call.h"
#include "autodiff/stored_error.h"
#include "autodiff/trained_slices.h"
#include "autodiff/type_change.h"
#include "ir/own_constant.h"

namespace thimble::autodiff {
namespace {

// The op that sums two gradients, found by its trait.
const ir::OpDef& gradient_sum() {
  static const ir::OpDef& sum = []() -> const ir::OpDef& {
    const auto ops = ir::all_ops();
    const auto found = std::find_if(ops.begin(), ops.end(),
                                    [](const auto* op) { return op->gradient.adds_gradients; });
    if (found == ops.end()) throw Error("autodiff", "no op of the library adds gradients");
    return **found;
  }();
  return sum;
}

// By value: whether it depends on any wanted source.
std::vector<char> depends_on(const ir::Graph& graph, std::span<const int> wanted) {
  std::vector<char> depends(graph.values.size(), 0);
  for (int id : wanted) depends[static_cast<size_t>(id)] = 1;
  for (const ir::Node& node : graph.nodes) {
    if (node.op->gradient.stops_gradient) continue;
    const bool any = std::any_of(node.inputs.begin(), node.inputs.end(), [&](int id) {
      return id >= 0 && depends[static_cast<size_t>(id)] != 0;
    });
    if (!any) continue;
    for (int output : node.outputs) {
      if (is_differentiable(graph.type(output))) depends[static_cast<size_t>(output)] = 1;
    }
  }
  return depends;
}

class Reverse {
 public:
  Reverse(ir::Graph& graph, std::span<const int> wanted, DType error_type)
      : graph_(graph),
        depends_(depends_on(graph, wanted)),
        grads_(graph.values.size()),
        stored_(graph.values.size()) {
    if (error_type == DType::i8) find_stored();
  }

  void accumulate(int id, Value gradient) {
    if (!gradient) return;
    // Rules give the gradient of a part where they can; else it is taken from the whole one.
    const Shape wanted = ir::part_shape(graph_.type(id).shape, graph_.data(id).trained_part);
    if (gradient.shape() == graph_.type(id).shape && gradient.shape() != wanted) {
      gradient = trained_slices(graph_, gradient, id);
    }
    if (gradient.shape() != wanted) {
      throw Error("autodiff",
                  fmt::format("the gradient of {} {} has shape {}", graph_.data(id).name,
                              ir::to_string(graph_.type(id)), to_string(gradient.shape())));
    }
    gradient = with_type(graph_, gradient, gradient_dtype(graph_.type(id)));
    if (is_stored_[static_cast<size_t>(id)] != 0) {
      StoredError& sum = stored_[static_cast<size_t>(id)];
      sum = sum.empty() ? stored_error(graph_, gradient) : stored_sum(graph_, sum, gradient);
      for (const Value& part : sum)
        graph_.values[static_cast<size_t>(part.id())].role = ir::Role::gradient;
      name_gradient(sum[0], id);
      return;
    }
    Value& sum = grads_[static_cast<size_t>(id)];
    sum = sum ? graph_.add1(gradient_sum(), {}, {sum, gradient}) : gradient;
    name_gradient(sum, id);
  }

  void visit(size_t n) {
    const ir::Node node = graph_.nodes[n];  // a copy: the rule appends nodes
    const size_t first_new = graph_.values.size();
    graph_.reopen_layer(node.layer);
    const RuleCall call(
        graph_, node, [this](int id) { return depends_[static_cast<size_t>(id)] != 0; },
        [this](int id) { return gradient_of(id); });
    run(node, call, first_new);
    graph_.end_layer();
  }

  // The gradient of a value, as rules read it.
  [[nodiscard]] Value gradient_of(int id) {
    const StoredError& stored = stored_[static_cast<size_t>(id)];
    return stored.empty() ? grads_[static_cast<size_t>(id)] : loaded_error(graph_, stored);
  }

 private:
  // Appends what the rule of a node makes. first_new: the first value of the rule's arguments.
  void run(const ir::Node& node, const RuleCall& call, size_t first_new) {
    const std::span<const bool> needs = call.needed();
    const bool any_grad = std::any_of(call.grads.begin(), call.grads.end(),
                                      [](const Value& grad) { return bool(grad); });
    const bool any_need = std::any_of(needs.begin(), needs.end(), [](bool need) { return need; });
    if (!any_grad || !any_need) return;
    if (node.op->gradient.vjp == nullptr) {
      throw Error(node.op->name,
                  "has no gradient, but a trained parameter reaches the loss through it; use "
                  "another op, or freeze the parameter");
    }
    const std::vector<Value> result = call.run(node);
    for (size_t id = first_new; id < graph_.values.size(); ++id) {
      ir::ValueData& data = graph_.values[id];
      if (data.role == ir::Role::activation) data.role = ir::Role::gradient;
    }
    for (size_t i = 0; i < result.size() && i < needs.size(); ++i) {
      if (needs[i]) accumulate(node.inputs[i], result[i]);
    }
  }

  // The gradients of int8 activations are stored as int8. What has the bytes of another value has
  // its gradient, too, unless several nodes read it.
  void find_stored() {
    const std::vector<int> reads = graph_.read_counts();
    for (size_t id = 0; id < is_stored_.size(); ++id) {
      const ir::Node* const producer = graph_.producer_of(static_cast<int>(id));
      if (producer == nullptr || graph_.values[id].type.dtype != DType::i8) continue;
      is_stored_[id] = producer->op->memory.views.empty() || reads[id] > 1 ? 1 : 0;
    }
  }

  void name_gradient(Value gradient, int of) {
    ir::ValueData& data = graph_.values[static_cast<size_t>(gradient.id())];
    if (data.producer >= 0 && !ir::is_persistent(data.role)) {
      data.role = ir::Role::gradient;
      data.name = "grad(" + graph_.data(of).name + ")";
    }
  }

  ir::Graph& graph_;
  std::vector<char> depends_;
  std::vector<Value> grads_;
  std::vector<StoredError> stored_;  // in the place of grads_ where is_stored_
  std::vector<char> is_stored_ = std::vector<char>(grads_.size(), 0);
};

// Moves updates of parameters among the nodes from `first` on to the end: gradient rules append
// them, and later rules may still read what they change.
void move_updates_last(ir::Graph& graph, size_t first) {
  const auto begin = graph.nodes.begin() + static_cast<std::ptrdiff_t>(first);
  std::stable_partition(begin, graph.nodes.end(),
                        [](const ir::Node& node) { return node.op->memory.updates.empty(); });
  for (size_t n = first; n < graph.nodes.size(); ++n) {
    for (int output : graph.nodes[n].outputs) {
      graph.values[static_cast<size_t>(output)].producer = static_cast<int>(n);
    }
  }
}

// As append_gradients, of a graph whose first nodes are those of the forward part; leaves updates
// where rules put them.
std::vector<Gradient> append_reverse(ir::Graph& graph, size_t forward_nodes,
                                     std::span<const Cotangent> seeds, std::span<const int> wanted,
                                     DType error_type) {
  Reverse reverse(graph, wanted, error_type);
  for (const Cotangent& seed : seeds) reverse.accumulate(seed.output.id(), seed.cotangent);
  for (size_t n = forward_nodes; n-- > 0;) reverse.visit(n);
  std::vector<Gradient> gradients;
  for (int id : wanted) gradients.push_back({id, reverse.gradient_of(id).id()});
  return gradients;
}

}  // namespace

bool is_differentiable(const ir::TensorType& type) {
  return is_floating(type.dtype) || (type.dtype == DType::i8 && type.quantization != nullptr);
}

DType gradient_dtype(const ir::TensorType& type) {
  return is_floating(type.dtype) ? type.dtype : DType::f32;
}

std::vector<Gradient> append_gradients(ir::Graph& graph, std::span<const Cotangent> seeds,
                                       std::span<const int> wanted, DType error_type) {
  const size_t forward_nodes = graph.nodes.size();
  std::vector<Gradient> gradients = append_reverse(graph, forward_nodes, seeds, wanted, error_type);
  move_updates_last(graph, forward_nodes);
  return gradients;
}

std::vector<Gradient> append_gradients(ir::Graph& graph, std::span<const Target> targets,
                                       DType error_type) {
  const size_t forward_nodes = graph.nodes.size();
  std::vector<Gradient> all;
  for (const Target& target : targets) {
    const std::vector<Gradient> own =
        append_reverse(graph, forward_nodes, {&target.seed, 1}, target.wanted, error_type);
    all.insert(all.end(), own.begin(), own.end());
  }
  move_updates_last(graph, forward_nodes);
  return all;
}

Value one(ir::Graph& graph) {
  return ir::own_constant(graph, "@one", Array(std::vector{1.0F}, {}));
}

std::vector<Gradient> append_loss_gradients(ir::Graph& graph, Value cotangent, DType error_type) {
  if (!graph.loss) {
    throw Error(
        "autodiff",
        "the graph has no loss; Graph::minimize, or thimble adapt MODEL --loss NAME, gives it one");
  }
  std::vector<int> wanted;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ir::ValueData& data = graph.values[id];
    if (data.role == ir::Role::parameter && data.trainable && data.producer < 0) {
      wanted.push_back(static_cast<int>(id));
    }
  }
  if (!cotangent) cotangent = one(graph);
  const Cotangent seed{graph.value(*graph.loss), cotangent};
  return append_gradients(graph, {&seed, 1}, wanted, error_type);
}

}  // namespace thimble::autodiff
