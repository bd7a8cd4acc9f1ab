#include "train/sample_flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "autodiff/autodiff.h"
#include "autodiff/rule_call.h"

namespace thimble::train {
namespace {

bool is_open(int64_t dim) { return ir::with_batch(dim, 1) != dim; }

bool has_open(const Shape& shape) {
  return std::any_of(shape.dims().begin(), shape.dims().end(), is_open);
}

// Whether samples lie one after another: the batch is a factor of the first dimension only.
bool counts_samples(const Shape& shape) {
  const std::vector<int64_t>& dims = shape.dims();
  return !dims.empty() && is_open(dims[0]) && std::none_of(dims.begin() + 1, dims.end(), is_open);
}

// Whether this gradient needs no forward value that depends on samples.
bool reads_nothing(const ir::Graph& graph, const std::vector<Holds>& holds, int gradient) {
  std::vector<int> left{gradient};
  while (!left.empty()) {
    const auto id = static_cast<size_t>(left.back());
    left.pop_back();
    if (id < holds.size()) {
      if (holds[id] != Holds::nothing) return false;
      continue;
    }
    const ir::Node* const producer = graph.producer_of(static_cast<int>(id));
    if (producer == nullptr) continue;
    for (const int input : producer->inputs) {
      if (input >= 0) left.push_back(input);
    }
  }
  return true;
}

// Whether the node computes a x + b of inputs x that are means, with a and b independent of
// samples. Its gradient with respect to x then reads only the incoming gradient and a. The outputs
// must be marked as means.
bool keeps_means(ir::Graph graph, const std::vector<Holds>& holds, const ir::Node& node) {
  if (node.op->gradient.vjp == nullptr) return false;
  const autodiff::RuleCall call(
      graph, node, [&](int id) { return holds[static_cast<size_t>(id)] == Holds::mean; },
      [&](int id) {
        const ir::TensorType type = graph.type(id);
        if (!autodiff::is_differentiable(type)) return Value();
        return graph.own_source(fmt::format("@cotangent of {}", id),
                                {autodiff::gradient_dtype(type), type.shape}, ir::Role::activation);
      });
  const std::vector<Value> result = call.run(node);
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.needs[i]) continue;
    if (i >= result.size() || !result[i] || !reads_nothing(graph, holds, result[i].id())) {
      return false;
    }
  }
  return true;
}

class Follower {
 public:
  Follower(const ir::Graph& graph, bool split_statistics)
      : graph_(graph), split_statistics_(split_statistics) {
    flow_.holds.assign(graph.values.size(), Holds::nothing);
    flow_.culprit.assign(graph.values.size(), -1);
    for (size_t id = 0; id < graph.values.size(); ++id) {
      const ir::Role role = graph.values[id].role;
      if (role == ir::Role::input || role == ir::Role::label) flow_.holds[id] = Holds::samples;
    }
  }

  SampleFlow run() {
    for (size_t n = 0; n < graph_.nodes.size() && flow_.refused.empty(); ++n) {
      const ir::Node& node = graph_.nodes[n];
      if (node.op->memory.updates.empty()) {
        visit(node, static_cast<int>(n));
      } else {
        visit_update(node);
      }
      if (node.op->flow.reads_rng && node.input(0) >= 0) require_draws_by_sample(node);
    }
    return std::move(flow_);
  }

 private:
  [[nodiscard]] bool reads(const ir::Node& node, Holds what) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](int id) {
      return id >= 0 && flow_.holds[static_cast<size_t>(id)] == what;
    });
  }

  [[nodiscard]] ir::Samples rule(const ir::Node& node) const {
    if (node.op->flow.samples == nullptr) {
      return node.op->memory.updates.empty() ? ir::Samples::independent : ir::Samples::mixed;
    }
    std::vector<const ir::TensorType*> inputs;
    std::vector<ir::TensorType> outputs;
    const auto counted = std::make_unique<bool[]>(node.inputs.size() + 1);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int id = node.inputs[i];
      inputs.push_back(id < 0 ? nullptr : &graph_.type(id));
      counted[i] = id >= 0 && flow_.holds[static_cast<size_t>(id)] == Holds::samples;
    }
    for (const int id : node.outputs) outputs.push_back(graph_.type(id));
    ir::SamplesContext context{{node.attrs, inputs, outputs}, {counted.get(), inputs.size()}};
    return node.op->flow.samples(context);
  }

  // Marks the outputs with samples in their first dimension, and those without, of a node whose
  // inputs hold samples.
  void mark(const ir::Node& node, int number, Holds with_samples, Holds without) {
    for (const int id : node.outputs) {
      const Shape& shape = graph_.type(id).shape;
      const Holds holds = counts_samples(shape) ? with_samples
                          : has_open(shape)     ? Holds::mixed
                                                : without;
      flow_.holds[static_cast<size_t>(id)] = holds;
      if (holds == Holds::mixed) flow_.culprit[static_cast<size_t>(id)] = number;
    }
  }

  void visit(const ir::Node& node, int number) {
    for (const int input : node.inputs) {
      if (input < 0 || flow_.holds[static_cast<size_t>(input)] != Holds::mixed) continue;
      return mark(node, flow_.culprit[static_cast<size_t>(input)], Holds::mixed, Holds::mixed);
    }
    const bool reads_means = reads(node, Holds::mean);
    if (!reads(node, Holds::samples)) {
      if (!reads_means) return mark(node, number, Holds::samples, Holds::nothing);
      mark(node, number, Holds::mixed, Holds::mean);
      if (!keeps_means(graph_, flow_.holds, node)) mark(node, number, Holds::mixed, Holds::mixed);
      return;
    }
    if (reads_means) return mark(node, number, Holds::mixed, Holds::mixed);
    switch (rule(node)) {
      case ir::Samples::independent:
        return mark(node, number, Holds::samples, Holds::mixed);
      case ir::Samples::labelled_mean:
        note_left_out(node, number);
        return mark(node, number, Holds::samples, Holds::mean);
      case ir::Samples::mean:
        return mark(node, number, Holds::samples, Holds::mean);
      case ir::Samples::statistics:
        require_split_statistics(node);
        return mark(node, number, Holds::samples, Holds::mixed);
      case ir::Samples::mixed:
        return mark(node, number, Holds::mixed, Holds::mixed);
    }
  }

  void visit_update(const ir::Node& node) {
    if (rule(node) == ir::Samples::statistics) return require_split_statistics(node);
    flow_.refused = fmt::format(
        "{} changes what it keeps from step to step, which would happen "
        "once per micro-batch",
        name_of(graph_, node));
  }

  void require_split_statistics(const ir::Node& node) {
    if (split_statistics_ || !flow_.refused.empty()) return;
    flow_.refused = fmt::format(
        "{} works with statistics of the whole batch; let it take those of "
        "each micro-batch (split_batch_norm, on the command line "
        "--split-batch-norm), which is not the same training",
        name_of(graph_, node));
  }

  void require_draws_by_sample(const ir::Node& node) {
    for (const int id : node.outputs) {
      const Shape& shape = graph_.type(id).shape;
      if (counts_samples(shape) || !flow_.refused.empty()) continue;
      flow_.refused = fmt::format(
          "{} draws random numbers of shape {}, whose first dimension does "
          "not count the samples of the batch",
          name_of(graph_, node), to_string(shape));
    }
  }

  void note_left_out(const ir::Node& node, int number) {
    std::vector<const ir::TensorType*> types;
    for (const int id : node.inputs) types.push_back(id < 0 ? nullptr : &graph_.type(id));
    const ir::IndexInput index = node.op->flow.indices({node.attrs, types, {}});
    if (index.input >= 0 && index.ignored) {
      flow_.left_out.push_back({number, node.input(index.input), *index.ignored});
    }
  }

  const ir::Graph& graph_;
  bool split_statistics_;
  SampleFlow flow_;
};

}  // namespace

std::string name_of(const ir::Graph& graph, const ir::Node& node) {
  if (node.layer < 0) return node.op->name;
  return fmt::format("{} of {}", node.op->name, graph.layers[static_cast<size_t>(node.layer)].name);
}

SampleFlow follow_samples(const ir::Graph& forward, bool split_statistics) {
  return Follower(forward, split_statistics).run();
}

}  // namespace thimble::train
