#include "ir/tiling.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/inputs.h"

namespace thimble::ir {
namespace {

std::vector<const TensorType*> types_of(const Graph& graph, std::span<const int> ids) {
  std::vector<const TensorType*> types;
  types.reserve(ids.size());
  for (const int id : ids) types.push_back(id < 0 ? nullptr : &graph.type(id));
  return types;
}

}  // namespace

std::vector<const TensorType*> input_types(const Graph& graph, const Node& node) {
  if (!node.tiled) return types_of(graph, node.inputs);
  std::vector<const TensorType*> types =
      types_of(graph, std::span(node.inputs).first(node.op->signature.inputs.size()));
  types[kGradientInput] = types[0];
  return types;
}

std::span<const int> gradient_inputs(const Node& node) {
  return std::span(node.inputs).subspan(node.op->signature.inputs.size());
}

std::vector<const TensorType*> gradient_input_types(const Graph& graph, const Node& node) {
  return types_of(graph, gradient_inputs(node));
}

std::string step_name(const Node& node) {
  return node.tiled ? std::string("tiled ") + node.op->name : std::string(node.op->name);
}

bool is_elementwise_update(const OpDef& update, const Attrs& settings, const TensorType& param) {
  if (!update.optimizer.elementwise || update.kernels.workspace != nullptr) return false;
  const std::vector<StateSpec> states = update.optimizer.states(settings, param.shape);
  return std::all_of(states.begin(), states.end(),
                     [&param](const StateSpec& spec) { return spec.type == param; });
}

std::string tiling_error(const Graph& graph, const Node& node) {
  if (!node.tiled) return "";
  const TiledGradient& tiled = *node.tiled;
  const size_t declared = node.op->signature.inputs.size();
  if (node.inputs.size() < declared) {
    return fmt::format("is a tiled update with {} inputs, its op declares {}", node.inputs.size(),
                       declared);
  }
  if (node.input(0) < 0 || node.input(kGradientInput) >= 0) {
    return "is a tiled update that reads a whole gradient, or no parameter";
  }
  const TensorType& param = graph.type(node.input(0));
  if (tiled.op == nullptr || tiled.op->memory.part.rows == nullptr) {
    return "is a tiled update whose gradient cannot be computed by rows";
  }
  if (tiled.attrs.schema() != tiled.op->signature.attrs) {
    return "is a tiled update whose gradient carries another op's attributes";
  }
  if (tiled.rows < 1 || param.shape.rank() == 0) return "is a tiled update without rows";
  if (!is_elementwise_update(*node.op, node.attrs, param)) {
    return "is a tiled update by a rule for whole tensors";
  }
  const std::vector<const TensorType*> inputs = gradient_input_types(graph, node);
  const std::string wrong = inputs_error(*tiled.op, inputs);
  if (!wrong.empty()) return "is a tiled update whose gradient " + wrong;
  const std::vector<TensorType> gradient = infer_types(*tiled.op, tiled.attrs, inputs);
  if (gradient.size() != 1 || gradient[0] != param) {
    return "is a tiled update whose gradient is not of the parameter's type";
  }
  return "";
}

}  // namespace thimble::ir
