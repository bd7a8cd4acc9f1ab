#include "train/integer_updates.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace thimble::train {
namespace {

// The real numbers that 1 stands for in a parameter of whole numbers, for each index of an axis or,
// without one, for all.
struct Units {
  std::vector<double> sizes;
  std::optional<int> axis;
};

// Those of a bias are known to the op that reads it.
Units units_of(const ir::Graph& graph, int id) {
  const ir::TensorType& type = graph.type(id);
  if (type.quantization != nullptr) {
    const Quantization& q = *type.quantization;
    return {{q.scales.begin(), q.scales.end()}, q.axis};
  }
  for (const ir::Node& node : graph.nodes) {
    if (node.inputs.empty() || node.inputs.back() != id) continue;
    if (node.op->integers.bias_units == nullptr) continue;
    std::vector<const ir::TensorType*> inputs;
    std::vector<ir::TensorType> outputs;
    for (const int input : node.inputs) inputs.push_back(input < 0 ? nullptr : &graph.type(input));
    for (const int output : node.outputs) outputs.push_back(graph.type(output));
    return {node.op->integers.bias_units({node.attrs, inputs, outputs}), 0};
  }
  throw Error(graph.data(id).name,
              "is of i32 and trained, but no layer reads it as its bias; freeze it");
}

}  // namespace

Value parameter_units(ir::Graph& graph, int source) {
  const Units units = units_of(graph, source);
  if (units.sizes.empty()) return {};  // of no elements
  const double largest = *std::max_element(units.sizes.begin(), units.sizes.end());
  const ir::TrainedPart& part = graph.data(source).trained_part;
  const bool is_cut = !part.indices.empty() && units.axis == part.axis;
  const size_t count = is_cut ? part.indices.size() : units.sizes.size();
  std::vector<float> sizes;
  for (size_t i = 0; i < count; ++i) {
    const double size = units.sizes[is_cut ? static_cast<size_t>(part.indices[i]) : i];
    sizes.push_back(static_cast<float>(std::max(size, kLeastScale * largest)));
  }
  std::vector<int64_t> dims;
  if (units.axis) {
    dims.assign(static_cast<size_t>(graph.type(source).shape.rank()), 1);
    dims[static_cast<size_t>(*units.axis)] = static_cast<int64_t>(sizes.size());
  }
  return graph.own_constant(fmt::format("@units_of_{}", *graph.data(source).name),
                            [&] { return Array(sizes, Shape(dims)); });
}

void check_whole(Value param, const ParamGroup* group, const UpdateOptions& options) {
  const auto refuse = [&](const char* what, const char* instead) {
    throw Error(param.name(),
                fmt::format("is of {}, and {}; {}", to_string(param.dtype()), what, instead));
  };
  if (options.ema_decay != 0.0) {
    refuse("averages are kept of f32 parameters alone", "set ema_decay to 0");
  }
  if (options.scheduled_momentum) {
    refuse("a cycled momentum is for f32 parameters alone", "take a schedule without it");
  }
  if (group != nullptr && (group->l1 != 0.0 || group->l2 != 0.0)) {
    refuse("l1 and l2 are for f32 parameters alone", "set weight_decay in their place");
  }
}

}  // namespace thimble::train
