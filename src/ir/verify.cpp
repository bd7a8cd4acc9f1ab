#include <fmt/format.h>

#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/inputs.h"
#include "ir/tiling.h"

namespace thimble::ir {
namespace {

// A rule returns the error text, or an empty string.
using Rule = std::string (*)(const Graph&, const Node&, int node_id);

std::string inputs_exist(const Graph& graph, const Node& node, int) {
  for (int id : node.inputs) {
    if (id >= static_cast<int>(graph.values.size())) return fmt::format("reads %{}, no value", id);
  }
  return "";
}

std::string inputs_come_first(const Graph& graph, const Node& node, int node_id) {
  for (int id : node.inputs) {
    if (id >= 0 && graph.data(id).producer >= node_id) {
      return fmt::format("reads %{} before it is computed", id);
    }
  }
  return "";
}

std::string outputs_are_its_own(const Graph& graph, const Node& node, int node_id) {
  for (int id : node.outputs) {
    if (id < 0 || id >= static_cast<int>(graph.values.size())) {
      return fmt::format("writes %{}, no value", id);
    }
    if (graph.data(id).producer != node_id) {
      return fmt::format("writes %{}, which another node computes", id);
    }
  }
  return "";
}

std::string inputs_are_declared(const Graph& graph, const Node& node, int) {
  return inputs_error(*node.op, input_types(graph, node));
}

std::string types_follow_the_shape_rule(const Graph& graph, const Node& node, int) {
  const std::vector<const TensorType*> types = input_types(graph, node);
  const std::vector<TensorType> expected = infer_types(*node.op, node.attrs, types);
  if (expected.size() != node.outputs.size()) {
    return fmt::format("has {} outputs, its rule says {}", node.outputs.size(), expected.size());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (graph.type(node.outputs[i]) != expected[i]) {
      return fmt::format("output {} is {}, its rule says {}", i,
                         to_string(graph.type(node.outputs[i])), to_string(expected[i]));
    }
  }
  return "";
}

std::string has_a_kernel(const Graph&, const Node& node, int) {
  return node.op->kernels.ref == nullptr && node.op->rewrite.specialize == nullptr ? "has no kernel"
                                                                                   : "";
}

std::string attributes_fit(const Graph&, const Node& node, int) {
  return node.attrs.schema() != node.op->signature.attrs ? "carries another op's attributes" : "";
}

std::string is_tiled_by_rows(const Graph& graph, const Node& node, int) {
  return tiling_error(graph, node);
}

constexpr struct {
  const char* name;
  Rule rule;
} kRules[] = {
    {"inputs exist", inputs_exist},
    {"inputs come first", inputs_come_first},
    {"outputs are its own", outputs_are_its_own},
    {"attributes fit", attributes_fit},
    {"tiled by rows", is_tiled_by_rows},
    {"inputs are declared", inputs_are_declared},
    {"types follow the shape rule", types_follow_the_shape_rule},
    {"has a kernel", has_a_kernel},
};

// The last node that reads each value, or -1.
std::vector<int> last_readers(const Graph& graph) {
  std::vector<int> last(graph.values.size(), -1);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const int id : graph.nodes[n].inputs) {
      if (id >= 0) last[static_cast<size_t>(id)] = static_cast<int>(n);
    }
  }
  return last;
}

// An update writes its input's storage, so it must be the last reader of that input.
std::string updates_come_last(const Graph& graph, const std::vector<int>& last, int node_id) {
  const Node& node = graph.nodes[static_cast<size_t>(node_id)];
  for (const Alias& update : node.op->memory.updates) {
    const int id = node.input(update.in);
    if (id < 0) continue;
    if (!is_persistent(graph.data(id).role) || graph.data(id).role == Role::constant) {
      return fmt::format("updates %{}, which is neither parameter nor state", id);
    }
    const int reader = last[static_cast<size_t>(id)];
    if (reader > node_id) {
      return fmt::format("changes %{}, which {} reads later", id,
                         graph.nodes[static_cast<size_t>(reader)].op->name);
    }
  }
  return "";
}

[[noreturn]] void refuse(const Graph& graph, size_t node, const std::string& broken,
                         const char* rule) {
  throw Error("verify", fmt::format("node {} ({}) {} (rule: {})", node, graph.nodes[node].op->name,
                                    broken, rule));
}

void verify_updates(const Graph& graph) {
  const std::vector<int> last = last_readers(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const std::string broken = updates_come_last(graph, last, static_cast<int>(n));
    if (!broken.empty()) refuse(graph, n, broken, "updates come last");
  }
}

void verify_sources(const Graph& graph) {
  for (const ValueData& data : graph.values) {
    std::string wrong = quantization_error(data.type);
    const Array& contents = data.data;
    if (data.role == Role::constant && data.producer < 0 && contents.elements() > 0 &&
        (contents.dtype() != data.type.dtype || contents.shape() != data.type.shape)) {
      wrong =
          fmt::format("is {}, but holds {}{}", to_string(data.type),
                      thimble::to_string(contents.dtype()), thimble::to_string(contents.shape()));
    }
    if (data.role == Role::parameter && data.trainable && data.producer < 0 &&
        !is_trainable(data.type)) {
      wrong = fmt::format("is {} and trained; only parameters of f32, i8 with a scale and i32 are",
                          to_string(data.type));
    }
    if (!wrong.empty()) throw Error("verify", fmt::format("{} {}", *data.name, wrong));
  }
}

void verify_results(const Graph& graph) {
  for (int id : graph.results()) {
    if (id < 0 || id >= static_cast<int>(graph.values.size())) {
      throw Error("verify", fmt::format("result %{} is no value of the graph", id));
    }
  }
  if (graph.loss &&
      (graph.type(*graph.loss).shape.rank() != 0 || graph.type(*graph.loss).dtype != DType::f32)) {
    throw Error("verify", "the loss must be one f32 number, got " +
                              to_string(graph.type(*graph.loss)) + "; reduce it with mean or sum");
  }
}

}  // namespace

void verify(const Graph& graph) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    for (const auto& [name, rule] : kRules) {
      const std::string broken = rule(graph, node, static_cast<int>(n));
      if (!broken.empty()) refuse(graph, n, broken, name);
    }
  }
  verify_updates(graph);
  verify_sources(graph);
  verify_results(graph);
}

}  // namespace thimble::ir
