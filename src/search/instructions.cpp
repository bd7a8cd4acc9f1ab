// The instruction model.
#include <thimble/instruction_model.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "passes/passes.h"
#include "plan/arena.h"
#include "plan/work.h"
#include "train/compile.h"
#include "train/scheme.h"

namespace thimble {
namespace {

using Kind = OpInstructions::Kind;
using Work = OpInstructions::Work;
constexpr size_t kKinds = static_cast<size_t>(Kind::f32_updates) + 1;

// Instructions.
struct Costs {
  double call;
  double unit[kKinds];  // by Kind
  double result[kKinds];
};

// Fitted by bench/quality/instructions.py to QEMU's counts of the kernels of exported steps.
constexpr Costs kCosts[] = {
#include "search/instruction_costs.inc"
};

bool is_whole(DType dtype) { return !is_floating(dtype); }

int64_t elements_of(const ir::Graph& graph, int id) { return graph.type(id).shape.elements(); }

// Of a part that is trained the gradient says how much it is.
Work update_of(const ir::Graph& graph, const ir::Node& node) {
  const int parameter = node.outputs.front();
  const int64_t whole = elements_of(graph, parameter);
  int64_t changed = whole;
  for (size_t i = 0; i < node.inputs.size() && i < node.op->signature.inputs.size(); ++i) {
    const int id = node.inputs[i];
    if (id >= 0 && std::string_view(node.op->signature.inputs[i].name) == "grad" && !node.tiled) {
      changed = std::min(changed, elements_of(graph, id));
    }
  }
  int64_t others = whole - changed;
  for (size_t i = 1; i < node.outputs.size(); ++i) others += elements_of(graph, node.outputs[i]);
  return {is_whole(graph.type(parameter).dtype) ? Kind::integer_updates : Kind::f32_updates,
          static_cast<double>(changed), static_cast<double>(others)};
}

// Whether it makes [N, P, Q, C] of [N, H, W, C], as pools do.
bool changes_size_of_image(const ir::Graph& graph, const ir::Node& node) {
  if (node.inputs.empty() || node.inputs.front() < 0) return false;
  const Shape& from = graph.type(node.inputs.front()).shape;
  const Shape& to = graph.type(node.outputs.front()).shape;
  return from.rank() == 4 && to.rank() == 4 && from[0] == to[0] && from[3] == to[3] &&
         (from[1] != to[1] || from[2] != to[2]);
}

std::vector<Work> work_of(const ir::Graph& graph, const ir::Node& node) {
  if (!node.op->memory.updates.empty()) return {update_of(graph, node)};
  const ir::TensorType& made = graph.type(node.outputs.front());
  if (const auto device_work = node.op->kernels.device_work) {
    const auto parts = device_work(plan::kernel_params(graph, node)).parts;
    // Where one of the results is f32, sums are.
    const bool is_int8 = std::all_of(node.outputs.begin(), node.outputs.end(),
                                     [&graph](int id) { return is_whole(graph.type(id).dtype); });
    const Kind first = is_int8 ? Kind::int8_tiles : Kind::mixed_tiles;
    std::vector<Work> all;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].results == 0.0) continue;
      all.push_back(
          {static_cast<Kind>(static_cast<size_t>(first) + i), parts[i].products, parts[i].results});
    }
    if (!all.empty()) return all;
  }
  int64_t results = 0;
  for (const int id : node.outputs) results = std::max(results, elements_of(graph, id));
  const double products = plan::flops_of(graph, node) / 2.0;
  if (products > 0.0) return {{Kind::f32_products, products, static_cast<double>(results)}};
  int64_t read = 0;
  for (const int id : node.inputs) {
    if (id >= 0) read = std::max(read, elements_of(graph, id));
  }
  Kind kind = is_whole(made.dtype) ? Kind::int8_elements : Kind::f32_elements;
  if (changes_size_of_image(graph, node)) kind = Kind::windows;
  return {{kind, static_cast<double>(std::max(results, read))}};
}

OpInstructions predicted(const ir::Graph& graph, const ir::Node& node, const Costs& costs) {
  OpInstructions made{.op = node.op->name,
                      .value = *graph.data(node.outputs.front()).name,
                      .work = work_of(graph, node),
                      .instructions = costs.call};
  if (node.layer >= 0) made.layer = graph.layers[static_cast<size_t>(node.layer)].name;
  for (const Work& work : made.work) {
    const auto kind = static_cast<size_t>(work.kind);
    made.instructions += work.units * costs.unit[kind] + work.results * costs.result[kind];
  }
  return made;
}

}  // namespace

double StepInstructions::total() const {
  return std::accumulate(ops.begin(), ops.end(), 0.0, [](double sum, const OpInstructions& one) {
    return sum + one.instructions;
  });
}

StepInstructions predict_instructions(const Graph& graph, const TrainerOptions& options,
                                      Core core) {
  TrainerOptions training = options;
  // Which channels are chosen changes no number.
  if (training.scheme) {
    training.scheme =
        train::with_channels(graph.ir(), *training.scheme, train::magnitudes(training.seed));
  }
  const ir::Graph step = passes::optimize(train::graph_of_kernels(
      train::training_graph(graph.ir(), training, options.batch, train::StepKind::update), false));
  StepInstructions made;
  for (const ir::Node& node : step.nodes) {
    if (plan::is_view(step, node)) continue;
    made.ops.push_back(predicted(step, node, kCosts[static_cast<size_t>(core)]));
  }
  return made;
}

}  // namespace thimble
