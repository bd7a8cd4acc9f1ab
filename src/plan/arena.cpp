#include "plan/arena.h"

#include <algorithm>
#include <map>

#include "ir/mapped.h"
#include "ir/tiling.h"
#include "plan/lifetimes.h"
#include "plan/nth.h"
#include "plan/pack/pack.h"
#include "plan/tiled_loop.h"
#include "plan/transfer_ops.h"

namespace thimble::plan {
namespace {

// Work of one packing that stays above the lower bound: a few hundredths of a second at most.
constexpr int64_t kPackSteps = 20'000'000;

std::string layer_name(const ir::Graph& graph, const ir::Node& node) {
  return node.layer < 0 ? "" : nth(graph.layers, node.layer).name;
}

Made made_by(const ir::Graph& graph, const ir::ValueData& data) {
  if (data.producer < 0) return Made::first;
  if (nth(graph.nodes, data.producer).op == &swap_read_op()) return Made::fetched;
  return data.recomputed ? Made::recomputed : Made::first;
}

// Roles of parameters and state that lie in the swap file. Their buffers in the arena have the same
// roles.
std::map<std::string, ir::Role> roles_of(const ir::Graph& graph,
                                         const std::set<std::string>& in_file) {
  std::map<std::string, ir::Role> roles;
  for (const ir::ValueData& data : graph.values) {
    if (!ir::is_persistent(data.role) || in_file.count(data.name) == 0) continue;
    roles[data.name] = data.role;
  }
  return roles;
}

void add_value_buffers(const ir::Graph& graph, const Sharing& sharing,
                       const std::set<std::string>& in_file, Arena& arena) {
  const std::map<std::string, ir::Role> fetched = roles_of(graph, in_file);
  arena.buffer_of_value.assign(graph.values.size(), -1);
  const int last = static_cast<int>(graph.nodes.size());
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const int id = static_cast<int>(v);
    const ir::ValueData& data = graph.values[v];
    if (ir::is_persistent(data.role)) continue;
    const int leader = sharing.leader_of(id);
    if (leader != id) {
      arena.buffer_of_value[v] = nth(arena.buffer_of_value, leader);
      continue;
    }
    if (!sharing.has_buffer(id)) continue;  // nothing reads this source
    const Lifetime life = sharing.life(id);
    arena.buffer_of_value[v] = static_cast<int>(arena.plan.buffers.size());
    const bool is_source = data.storage == ir::Storage::full && !data.recomputed;
    const auto known = data.fetched && is_source ? fetched.find(data.name) : fetched.end();
    const ir::Role role = known == fetched.end() ? data.role : known->second;
    arena.plan.buffers.push_back({ir::label(data), ir::to_string(role), data.type.dtype,
                                  data.type.shape, size_bytes(data.type.dtype, data.type.shape), 0,
                                  life.birth, std::min(life.death, std::max(last, 1)),
                                  made_by(graph, data)});
  }
}

void add_workspaces(const ir::Graph& graph, const Sequence& sequence, Arena& arena) {
  arena.workspace_of_node.assign(graph.nodes.size(), -1);
  for (int n = 0; n < sequence.size(); ++n) {
    const int64_t bytes = sequence.step(n).workspace;
    if (bytes <= 0) continue;
    const ir::Node& node = nth(graph.nodes, n);
    nth(arena.workspace_of_node, n) = static_cast<int>(arena.plan.buffers.size());
    arena.plan.buffers.push_back({layer_name(graph, node) + "/" + ir::step_name(node),
                                  "workspace",
                                  DType::u8,
                                  {bytes},
                                  bytes,
                                  0,
                                  n,
                                  n + 1});
    arena.plan.workspace_bytes = std::max(arena.plan.workspace_bytes, bytes);
  }
}

void pack_buffers(Plan& plan) {
  std::vector<Buffer> problem;
  for (const PlanBuffer& buffer : plan.buffers) {
    problem.push_back({buffer.birth, buffer.death, buffer.bytes, kAlignment});
  }
  const Packing packing = pack(problem, {.steps = kPackSteps});
  for (size_t i = 0; i < plan.buffers.size(); ++i) plan.buffers[i].offset = packing.offsets[i];
  plan.arena_bytes = packing.peak_bytes;
}

void add_totals(const ir::Graph& graph, const std::set<std::string>& in_file,
                const ArenaOptions& options, Plan& plan) {
  for (const ir::Node& node : graph.nodes) {
    plan.constant_bytes += aligned(prepared_node(graph, node, options).bytes);
  }
  for (const ir::ValueData& data : graph.values) {
    if (data.producer >= 0 || ir::is_mapped(data.role, data.type)) continue;
    const int64_t bytes = size_bytes(data.type.dtype, data.type.shape);
    const bool is_in_file = in_file.count(data.name) > 0;
    if (is_in_file) plan.in_file_bytes += bytes;
    if (data.role == ir::Role::parameter) plan.parameter_bytes += bytes;
    if (data.role == ir::Role::state) plan.state_bytes += bytes;
    if (data.role == ir::Role::constant) plan.constant_bytes += bytes;
    const bool is_padded = ir::is_persistent(data.role) && !is_in_file;
    const int64_t padding = is_padded ? aligned(bytes) - bytes : 0;
    plan.padding_bytes += padding;
    if (data.role == ir::Role::constant) plan.constant_padding_bytes += padding;
    const bool is_batch = data.role == ir::Role::input && data.type.shape.rank() > 0;
    if (is_batch) plan.batch = data.type.shape[0];
  }
  std::vector<int64_t> without_workspace(plan.steps.size(), 0);
  for (const PlanBuffer& buffer : plan.buffers) {
    for (int step = buffer.birth; step < buffer.death; ++step) {
      const size_t s = static_cast<size_t>(step);
      if (s >= plan.steps.size()) continue;
      plan.steps[s].live_bytes += buffer.bytes;
      if (buffer.role != "workspace") without_workspace[s] += buffer.bytes;
    }
  }
  int64_t live_peak = 0;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    if (plan.steps[s].live_bytes > live_peak) {
      live_peak = plan.steps[s].live_bytes;
      plan.peak_step = static_cast<int>(s);
    }
    plan.activation_peak_bytes = std::max(plan.activation_peak_bytes, without_workspace[s]);
  }
  const int64_t persistent = plan.parameter_bytes + plan.state_bytes + plan.constant_bytes +
                             plan.padding_bytes - plan.in_file_bytes;
  plan.planned_peak_bytes = persistent + plan.arena_bytes;
  plan.lower_bound_bytes = persistent + live_peak;
}

}  // namespace

ir::Params kernel_params(const ir::Graph& graph, const ir::Node& node) {
  const std::vector<const ir::TensorType*> inputs = ir::input_types(graph, node);
  std::vector<ir::TensorType> outputs;
  const ir::ChosenKernels kernels = ir::kernels_for(*node.op, inputs);
  for (int id : node.outputs) outputs.push_back(graph.type(id));
  return kernels.params({node.attrs, inputs, outputs});
}

ir::Params gradient_params(const ir::Graph& graph, const ir::Node& node) {
  const ir::TiledGradient& tiled = *node.tiled;
  if (tiled.op->kernels.params == nullptr) return {};
  const std::vector<const ir::TensorType*> inputs = ir::gradient_input_types(graph, node);
  const ir::TensorType& gradient = graph.type(node.input(0));
  return tiled.op->kernels.params({tiled.attrs, inputs, {&gradient, 1}});
}

int64_t counted_bytes(const Plan& plan) {
  return plan.planned_peak_bytes - plan.constant_bytes - plan.constant_padding_bytes;
}

// Only of weights: other inputs change in every run, and mapped ones are not in memory.
PreparedNode prepared_node(const ir::Graph& graph, const ir::Node& node,
                           const ArenaOptions& options) {
  const ir::PreparedWeights* const rule = node.op->kernels.prepared;
  if (!options.prepared || rule == nullptr || !options.fast || node.tiled) return {};
  for (const int i : rule->inputs) {
    const int id = node.input(i);
    if (id < 0) continue;
    const ir::ValueData& data = nth(graph.values, id);
    const bool is_weight = data.producer < 0 && ir::is_persistent(data.role);
    if (!is_weight || ir::is_mapped(data.role, data.type)) return {};
  }
  const int64_t bytes = rule->bytes(kernel_params(graph, node));
  return bytes > 0 ? PreparedNode{rule, bytes} : PreparedNode{};
}

int64_t workspace_bytes(const ir::Graph& graph, const ir::Node& node, const ArenaOptions& options) {
  if (node.tiled) {
    return workspace_bytes(tiled_loop(graph, node), *node.tiled->op, options.threads);
  }
  const ir::ChosenKernels kernels = ir::kernels_of(graph, node);
  const auto own = kernels.typed != nullptr ? kernels.typed->workspace : node.op->kernels.workspace;
  if (!kernels.widens && own == nullptr) return 0;
  if (const PreparedNode prepared = prepared_node(graph, node, options); prepared.bytes > 0) {
    return prepared.rule->workspace(kernel_params(graph, node), options.threads);
  }
  return kernels.workspace(kernel_params(graph, node), options.threads, options.fast);
}

std::vector<int64_t> workspaces(const ir::Graph& graph, const ArenaOptions& options) {
  std::vector<int64_t> bytes;
  for (const ir::Node& node : graph.nodes) bytes.push_back(workspace_bytes(graph, node, options));
  return bytes;
}

int64_t resident_bytes(const ir::Graph& graph, const std::set<std::string>& in_file) {
  int64_t bytes = 0;
  for (const ir::ValueData& data : graph.values) {
    if (data.producer >= 0 || !ir::is_persistent(data.role)) continue;
    if (data.role == ir::Role::constant || in_file.count(data.name) > 0) continue;
    if (ir::is_mapped(data.role, data.type)) continue;
    bytes += aligned(size_bytes(data.type.dtype, data.type.shape));
  }
  return bytes;
}

Arena plan_arena(const ir::Graph& graph, const ArenaOptions& options,
                 const std::set<std::string>& in_file) {
  Arena arena;
  const Sequence sequence = sequence_of(graph, workspaces(graph, options));
  const Sharing sharing(sequence, options.in_place);
  for (const ir::Node& node : graph.nodes) {
    arena.plan.steps.push_back({ir::step_name(node), layer_name(graph, node), 0});
  }
  add_value_buffers(graph, sharing, in_file, arena);
  add_workspaces(graph, sequence, arena);
  pack_buffers(arena.plan);
  add_totals(graph, in_file, options, arena.plan);
  return arena;
}

}  // namespace thimble::plan
