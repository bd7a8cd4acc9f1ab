#include "plan/arena.h"

#include <algorithm>
#include <numeric>

#include "plan/pack.h"

namespace thimble::plan {
namespace {

// A few hundredths of a second at most, where the packing stays above the lower bound.
constexpr int64_t kPackSteps = 20'000'000;

struct Lifetime {
  int birth = 0;
  int death = 0;  // exclusive
};

std::vector<Lifetime> lifetimes(const ir::Graph& graph) {
  const int end = static_cast<int>(graph.nodes.size());
  std::vector<Lifetime> lives(graph.values.size());
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const int producer = graph.values[id].producer;
    lives[id] = {std::max(producer, 0), producer < 0 ? 0 : producer + 1};
  }
  for (int n = 0; n < end; ++n) {
    for (int id : graph.nodes[static_cast<size_t>(n)].inputs) {
      if (id >= 0) lives[static_cast<size_t>(id)].death = n + 1;
    }
  }
  // Past the end: nothing may take a result's place.
  for (int id : graph.results()) lives[static_cast<size_t>(id)].death = end + 1;
  return lives;
}

int64_t bytes_of(const ir::Graph& graph, int id) {
  const ir::TensorType& type = graph.type(id);
  return size_bytes(type.dtype, type.shape);
}

// Groups values that share one buffer, in the order of the nodes.
class Sharing {
 public:
  Sharing(const ir::Graph& graph, std::vector<Lifetime> lives)
      : graph_(graph), lives_(std::move(lives)), leader_(graph.values.size()) {
    std::iota(leader_.begin(), leader_.end(), 0);
  }

  void visit(int n, bool in_place) {
    const ir::Node& node = graph_.nodes[static_cast<size_t>(n)];
    for (const ir::Alias& view : node.op->views) join(node, view);
    if (!in_place) return;
    std::vector<int> taken;
    for (const ir::Alias& alias : node.op->in_place) {
      const int input = input_of(node, alias);
      if (!may_take_over(n, node, alias, input)) continue;
      const int leader = leader_of(input);
      const bool used = std::find(taken.begin(), taken.end(), leader) != taken.end() ||
                        std::find(taken.begin(), taken.end(), -1 - alias.out) != taken.end();
      if (used) continue;
      taken.push_back(leader);
      taken.push_back(-1 - alias.out);
      join(node, alias);
    }
  }

  [[nodiscard]] int leader_of(int id) const { return leader_[static_cast<size_t>(id)]; }
  // The lifetime of a leader is that of its whole group.
  [[nodiscard]] Lifetime life(int leader) const { return lives_[static_cast<size_t>(leader)]; }

 private:
  [[nodiscard]] static int input_of(const ir::Node& node, const ir::Alias& alias) {
    const size_t index = static_cast<size_t>(alias.in);
    return index < node.inputs.size() ? node.inputs[index] : -1;
  }

  [[nodiscard]] bool may_take_over(int n, const ir::Node& node, const ir::Alias& alias,
                                   int input) const {
    if (input < 0 || ir::is_persistent(graph_.data(input).role)) return false;
    const int output = node.outputs[static_cast<size_t>(alias.out)];
    if (bytes_of(graph_, output) != bytes_of(graph_, leader_of(input))) return false;
    if (life(leader_of(input)).death > n + 1) return false;
    // A kernel that is not elementwise may read another argument after writing.
    const auto reads = std::count_if(node.inputs.begin(), node.inputs.end(), [&](int id) {
      return id >= 0 && leader_of(id) == leader_of(input);
    });
    return reads == 1 || node.op->elementwise;
  }

  void join(const ir::Node& node, const ir::Alias& alias) {
    const int input = input_of(node, alias);
    const int output = node.outputs[static_cast<size_t>(alias.out)];
    if (input < 0 || ir::is_persistent(graph_.data(input).role)) return;
    const int leader = leader_of(input);
    leader_[static_cast<size_t>(output)] = leader;
    Lifetime& life = lives_[static_cast<size_t>(leader)];
    life.death = std::max(life.death, lives_[static_cast<size_t>(output)].death);
  }

  const ir::Graph& graph_;
  std::vector<Lifetime> lives_;
  std::vector<int> leader_;
};

std::string layer_name(const ir::Graph& graph, const ir::Node& node) {
  return node.layer < 0 ? "" : graph.layers[static_cast<size_t>(node.layer)].name;
}

void add_value_buffers(const ir::Graph& graph, const Sharing& sharing, Arena& arena) {
  arena.buffer_of_value.assign(graph.values.size(), -1);
  const int last = static_cast<int>(graph.nodes.size());
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const int id = static_cast<int>(v);
    const ir::ValueData& data = graph.values[v];
    if (ir::is_persistent(data.role)) continue;
    const int leader = sharing.leader_of(id);
    if (leader != id) {
      arena.buffer_of_value[v] = arena.buffer_of_value[static_cast<size_t>(leader)];
      continue;
    }
    const Lifetime life = sharing.life(id);
    if (life.death <= life.birth) continue;  // a source that nothing reads
    arena.buffer_of_value[v] = static_cast<int>(arena.plan.buffers.size());
    arena.plan.buffers.push_back({data.name, ir::to_string(data.role), data.type.dtype,
                                  data.type.shape, bytes_of(graph, id), 0, life.birth,
                                  std::min(life.death, std::max(last, 1))});
  }
}

void add_workspaces(const ir::Graph& graph, const ArenaOptions& options, Arena& arena) {
  arena.workspace_of_node.assign(graph.nodes.size(), -1);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    if (!options.fast || node.op->fast == nullptr || node.op->workspace == nullptr) continue;
    const int64_t bytes = node.op->workspace(kernel_params(graph, node), options.threads);
    if (bytes <= 0) continue;
    arena.workspace_of_node[n] = static_cast<int>(arena.plan.buffers.size());
    const int step = static_cast<int>(n);
    arena.plan.buffers.push_back({layer_name(graph, node) + "/" + node.op->name,
                                  "workspace",
                                  DType::u8,
                                  {bytes},
                                  bytes,
                                  0,
                                  step,
                                  step + 1});
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

void add_totals(const ir::Graph& graph, Plan& plan) {
  for (const ir::ValueData& data : graph.values) {
    if (data.producer >= 0) continue;
    const int64_t bytes = size_bytes(data.type.dtype, data.type.shape);
    if (data.role == ir::Role::parameter) plan.parameter_bytes += bytes;
    if (data.role == ir::Role::state) plan.state_bytes += bytes;
    if (data.role == ir::Role::constant) plan.constant_bytes += bytes;
    const int64_t padding = ir::is_persistent(data.role) ? aligned(bytes) - bytes : 0;
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
  const int64_t persistent =
      plan.parameter_bytes + plan.state_bytes + plan.constant_bytes + plan.padding_bytes;
  plan.planned_peak_bytes = persistent + plan.arena_bytes;
  plan.lower_bound_bytes = persistent + live_peak;
}

}  // namespace

ir::Params kernel_params(const ir::Graph& graph, const ir::Node& node) {
  if (node.op->params == nullptr) return {};
  std::vector<const ir::TensorType*> inputs;
  std::vector<ir::TensorType> outputs;
  for (int id : node.inputs) inputs.push_back(id < 0 ? nullptr : &graph.type(id));
  for (int id : node.outputs) outputs.push_back(graph.type(id));
  return node.op->params({node.attrs, inputs, outputs});
}

Arena plan_arena(const ir::Graph& graph, const ArenaOptions& options) {
  Arena arena;
  Sharing sharing(graph, lifetimes(graph));
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    sharing.visit(static_cast<int>(n), options.in_place);
    arena.plan.steps.push_back({node.op->name, layer_name(graph, node), 0});
  }
  add_value_buffers(graph, sharing, arena);
  add_workspaces(graph, options, arena);
  pack_buffers(arena.plan);
  add_totals(graph, arena.plan);
  return arena;
}

}  // namespace thimble::plan
