#include "train/index_checks.h"

#include "ir/tiling.h"

namespace thimble::train {
namespace {

// The function that the model's author called.
std::string called(const ir::Graph& model, const ir::Node& node) {
  if (node.layer < 0) return node.op->name;
  return model.layers[static_cast<size_t>(node.layer)].type;
}

// The source whose bytes a value holds, -1: none.
int field_of(const ir::Graph& model, int value) {
  for (int node = model.data(value).producer; node >= 0; node = model.data(value).producer) {
    const ir::Node& view = model.nodes[static_cast<size_t>(node)];
    if (view.op->memory.views.empty()) return -1;
    value = view.input(view.op->memory.views[0].in);
  }
  const ir::Role role = model.data(value).role;
  return role == ir::Role::input || role == ir::Role::label ? value : -1;
}

}  // namespace

std::vector<IndexCheck> index_checks(const ir::Graph& model) {
  std::vector<IndexCheck> checks;
  for (const ir::Node& node : model.nodes) {
    if (node.op->flow.indices == nullptr) continue;
    const std::vector<const ir::TensorType*> types = ir::input_types(model, node);
    const ir::IndexInput index = node.op->flow.indices({node.attrs, types, {}});
    const int value = index.input < 0 ? -1 : node.input(index.input);
    const int source = value < 0 ? -1 : field_of(model, value);
    if (source < 0) continue;
    checks.push_back({*model.data(source).name, called(model, node), index.size, index.ignored});
  }
  return checks;
}

}  // namespace thimble::train
