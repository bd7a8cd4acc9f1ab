#include "program/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/tiling.h"
#include "plan/transfer_ops.h"

namespace thimble::program {
namespace {

ir::KernelFn own_kernel(const ir::OpDef& op, bool fast) {
  return fast && op.kernels.fast != nullptr ? op.kernels.fast : op.kernels.ref;
}

}  // namespace

Resolved resolve(const ir::Graph& graph, const ir::Node& node, const plan::ArenaOptions& options) {
  Resolved made;
  made.kernel = ir::kernels_of(graph, node).kernel(options.fast);
  if (made.kernel == nullptr) throw Error(node.op->name, "has no kernel to run");
  made.params = plan::kernel_params(graph, node);
  made.workspace_bytes = plan::workspace_bytes(graph, node, options);
  made.prepared = plan::prepared_node(graph, node, options);
  if (!node.tiled) return made;
  const ir::TiledGradient& tiled = *node.tiled;
  // Both kernels are the ops' own: no others compute parts.
  const auto inputs = ir::gradient_input_types(graph, node);
  if (!ir::kernels_for(*tiled.op, inputs).is_usual() || !ir::kernels_of(graph, node).is_usual()) {
    throw Error(node.op->name, "is a tiled update of types that have none");
  }
  made.tiled = std::make_shared<const Tiles>(Tiles{tiled.op, tiled.attrs,
                                                   own_kernel(*tiled.op, options.fast), tiled.rows,
                                                   plan::tiled_loop(graph, node)});
  return made;
}

std::string described(const Tensor& tensor) {
  ir::ValueData data;
  data.name = tensor.name;
  data.storage = tensor.storage;
  data.recomputed = tensor.recomputed;
  data.fetched = tensor.fetched;
  return fmt::format("{} {}", ir::to_string(tensor.role), ir::label(data));
}

std::vector<int> Program::results() const {
  std::vector<int> ids;
  if (loss) ids.push_back(*loss);
  for (const auto& [name, id] : outputs) ids.push_back(id);
  for (const auto& [name, id] : metrics) ids.push_back(id);
  return ids;
}

int Program::transfers() const {
  return static_cast<int>(std::count_if(
      calls.begin(), calls.end(), [](const Call& call) { return plan::is_transfer(*call.op); }));
}

Resolved resolve(const Program& program, const Call& call) {
  // The call as a graph of one node: the rules of ops, of tiled updates and of workspaces are asked
  // where planners ask them.
  ir::Graph graph;
  ir::Node node{.op = call.op, .attrs = call.attrs};
  if (call.tiled) {
    node.tiled = std::make_shared<const ir::TiledGradient>(
        ir::TiledGradient{call.tiled->op, call.tiled->attrs, call.tiled->rows});
  }
  const auto add = [&](int id, int producer) {
    if (id < 0) return -1;
    const Tensor& tensor = program.tensor(id);
    ir::ValueData data;
    data.type = tensor.type;
    data.role = tensor.role;
    data.trainable = ir::is_trainable(tensor.type);
    data.producer = producer;
    graph.values.push_back(std::move(data));
    return static_cast<int>(graph.values.size()) - 1;
  };
  for (const int id : call.inputs) node.inputs.push_back(add(id, -1));
  for (const int id : call.outputs) node.outputs.push_back(add(id, 0));
  // A parameter or state that was read back from the swap file is updated in the arena.
  for (const ir::Alias& update : call.op->memory.updates) {
    const int id = node.input(update.in);
    if (id < 0) continue;
    ir::ValueData& data = graph.values[static_cast<size_t>(id)];
    if (data.role != ir::Role::constant) data.role = ir::Role::state;
  }
  graph.nodes.push_back(node);
  ir::verify(graph);
  return resolve(graph, node, {.threads = program.threads, .fast = program.fast, .in_place = true});
}

}  // namespace thimble::program
