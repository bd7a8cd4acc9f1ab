#include "train/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "autodiff/autodiff.h"
#include "passes/passes.h"
#include "plan/binding.h"
#include "train/update.h"

namespace thimble::train {
namespace {

ir::Graph forward_graph(const ir::Graph& model, int64_t batch, ir::Phase phase) {
  return passes::gather_late(passes::specialize(ir::with_batch(model, batch), phase));
}

}  // namespace

double micro_batch_weight(const TrainerOptions& options, int64_t batch) {
  return static_cast<double>(batch) / static_cast<double>(options.batch);
}

ir::Graph training_graph(const ir::Graph& model, const TrainerOptions& options, int64_t batch,
                         StepKind kind) {
  ir::Graph graph = forward_graph(model, batch, ir::Phase::training);
  graph.outputs.clear();  // predictions are of no use to the step
  freeze_groups(graph, options.groups);
  const std::vector<autodiff::Gradient> gradients = autodiff::append_loss_gradients(graph);
  if (gradients.empty()) {
    throw Error("trainer", "nothing to train: every parameter is frozen, or there is none");
  }
  const UpdateOptions update{options.optimizer, options.groups, options.clip, options.ema_decay,
                             options.schedule && options.schedule->cycles_momentum()};
  const double weight = micro_batch_weight(options, batch);
  switch (kind) {
    case StepKind::update:
      append_updates(graph, gradients, update);
      break;
    case StepKind::accumulate:
      append_accumulation(graph, gradients, weight);
      break;
    case StepKind::finish:
      append_accumulated_updates(graph, gradients, update, weight);
      break;
  }
  return graph;
}

ir::Graph inference_graph(const ir::Graph& model, int64_t batch, bool with_loss) {
  ir::Graph graph = forward_graph(model, batch, ir::Phase::inference);
  if (with_loss) {
    graph.outputs.clear();
  } else {
    graph.loss.reset();
    graph.metrics.clear();
  }
  return graph;
}

void require_parts_of_samples(const ir::Graph& model, const std::string& output) {
  const auto is_of_batch = [](int64_t dim) { return ir::with_batch(dim, 1) != dim; };
  for (const auto& [name, id] : model.outputs) {
    if (name != output) continue;
    const std::vector<int64_t>& dims = model.type(id).shape.dims();
    if (!dims.empty() && is_of_batch(dims[0]) &&
        std::none_of(dims.begin() + 1, dims.end(), is_of_batch)) {
      return;
    }
    throw Error(
        "predict",
        fmt::format("the output \"{}\" has the shape {}, but what is predicted must have the "
                    "batch, N, as its first dimension and as no other; name the value "
                    "before it is reduced, or make it a metric",
                    name, to_string(model.type(id).shape)));
  }
}

ir::Graph averaged(ir::Graph graph, const ir::Graph& step) {
  std::set<std::string> states;
  for (const ir::ValueData& data : step.values) {
    if (data.producer < 0 && data.role == ir::Role::state) states.insert(data.name);
  }
  for (ir::ValueData& data : graph.values) {
    if (data.producer >= 0 || data.role != ir::Role::parameter) continue;
    const std::string average = data.name + kAverageSuffix;
    if (states.count(average) == 0) continue;
    data.name = average;
    data.role = ir::Role::state;
  }
  return graph;
}

void check_budget(const Plan& plan) {
  if (plan.fits) return;
  throw Error(
      "memory budget",
      fmt::format("training with batch {} needs {} at least, {} of it for reading samples; the "
                  "budget is {}; {}. {}Nearest budget that works: {} bytes, or {}",
                  plan.batch, format_bytes(plan.nearest_feasible_bytes),
                  format_bytes(plan.input_pipeline_bytes), format_bytes(plan.budget_bytes),
                  plan::binding_text(plan), plan::no_swap_text(plan), plan.nearest_feasible_bytes,
                  plan::smaller_ways(plan)));
}

}  // namespace thimble::train
