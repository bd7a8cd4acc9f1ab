// The instruction model.
#include <thimble/instruction_model.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "passes/passes.h"
#include "plan/work.h"
#include "train/compile.h"
#include "train/scheme.h"

namespace thimble {
namespace {

using Kind = OpInstructions::Kind;
constexpr size_t kKinds = 7;

// Instructions.
struct Costs {
  double call;
  double result;
  double unit[kKinds];  // by Kind
};

// Fitted by bench/quality/instructions.py to QEMU's counts of the kernels of exported steps.
constexpr Costs kCosts[] = {
#include "search/instruction_costs.inc"
};

bool is_whole(DType dtype) { return !is_floating(dtype); }

int64_t elements_of(const ir::Graph& graph, int id) { return graph.type(id).shape.elements(); }

// Of the inputs that have several axes: labels, rates and seeds say nothing of the work.
void find_types(const ir::Graph& graph, const ir::Node& node, bool& whole, bool& real) {
  for (const int id : node.inputs) {
    if (id < 0 || graph.type(id).shape.rank() < 2) continue;
    (is_whole(graph.type(id).dtype) ? whole : real) = true;
  }
}

OpInstructions work_of(const ir::Graph& graph, const ir::Node& node) {
  OpInstructions made{.op = node.op->name};
  if (node.layer >= 0) made.layer = graph.layers[static_cast<size_t>(node.layer)].name;
  const int first = node.outputs.front();
  made.value = *graph.data(first).name;
  int64_t results = 0;
  for (const int id : node.outputs) results = std::max(results, elements_of(graph, id));
  const double products = plan::flops_of(graph, node) / 2.0;
  bool whole = false;
  bool real = false;
  find_types(graph, node, whole, real);
  if (!node.op->memory.updates.empty()) {
    made.kind = is_whole(graph.type(first).dtype) ? Kind::integer_updates : Kind::f32_updates;
    // Of a part that is trained the gradient says how much it is.
    int64_t changed = results;
    for (size_t i = 0; i < node.inputs.size() && i < node.op->signature.inputs.size(); ++i) {
      const int id = node.inputs[i];
      if (id >= 0 && std::string_view(node.op->signature.inputs[i].name) == "grad" && !node.tiled) {
        changed = std::min(changed, elements_of(graph, id));
      }
    }
    made.units = static_cast<double>(changed);
  } else if (products > 0.0) {
    made.kind = !whole ? Kind::f32_products : real ? Kind::mixed_products : Kind::int8_products;
    made.units = products;
    made.results = static_cast<double>(results);
  } else {
    made.kind = is_whole(graph.type(first).dtype) ? Kind::int8_elements : Kind::f32_elements;
    int64_t read = 0;
    for (const int id : node.inputs) {
      if (id >= 0) read = std::max(read, elements_of(graph, id));
    }
    made.units = static_cast<double>(std::max(results, read));
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
  const ir::Graph step = passes::optimize(
      train::training_graph(graph.ir(), training, options.batch, train::StepKind::update));
  const Costs& costs = kCosts[static_cast<size_t>(core)];
  StepInstructions made;
  for (const ir::Node& node : step.nodes) {
    if (plan::is_view(step, node)) continue;
    OpInstructions one = work_of(step, node);
    one.instructions = costs.call + one.units * costs.unit[static_cast<size_t>(one.kind)] +
                       one.results * costs.result;
    made.ops.push_back(std::move(one));
  }
  return made;
}

}  // namespace thimble
