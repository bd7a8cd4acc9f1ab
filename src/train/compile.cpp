#include "train/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "autodiff/autodiff.h"
#include "ir/wildcard.h"
#include "ops/families/quantized/by_rows.h"
#include "ops/families/quantized/int8_errors.h"
#include "ops/families/quantized/masked.h"
#include "ops/families/quantized/sum_grad.h"
#include "passes/passes.h"
#include "plan/binding.h"
#include "train/scheme.h"
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

const Objective* objective_of(const std::vector<Objective>& objectives, const std::string& name) {
  for (const Objective& objective : objectives) {
    if (ir::matches(objective.parameters, name)) return &objective;
  }
  return nullptr;
}

int loss_of(const ir::Graph& graph, const Objective& objective) {
  std::string names;
  for (const auto& [name, id] : graph.metrics) {
    if (name == objective.loss) return id;
    names += (names.empty() ? "" : ", ") + name;
  }
  throw Error("objective of " + objective.parameters,
              fmt::format("its loss is a metric of the graph, and there is no \"{}\"; name it with "
                          "Graph::metric. Metrics are: {}",
                          objective.loss, names.empty() ? "none" : names));
}

namespace {

void check_objectives(const ir::Graph& graph, const std::vector<Objective>& objectives) {
  for (const Objective& objective : objectives) {
    const ir::TensorType& type = graph.type(loss_of(graph, objective));
    const std::string where = "objective of " + objective.parameters;
    if (type != ir::TensorType{DType::f32, {}}) {
      throw Error(where, fmt::format("its loss {} must be one f32 number, got {}", objective.loss,
                                     ir::to_string(type)));
    }
    const bool matches =
        std::any_of(graph.values.begin(), graph.values.end(), [&](const ir::ValueData& data) {
          return data.role == ir::Role::parameter &&
                 objective_of(objectives, data.name) == &objective;
        });
    if (!matches)
      throw Error(where, "matches no parameter, or none that no objective before it has");
  }
}

bool computes_int8(const ir::Graph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(), [](const ir::ValueData& data) {
    return data.producer >= 0 && data.type.dtype == DType::i8;
  });
}

// The gradients of the trained parameters by the losses that they follow.
// cotangent: of each loss; 1 if left out.
std::vector<autodiff::Gradient> append_gradients(ir::Graph& graph,
                                                 const std::vector<Objective>& objectives,
                                                 Value cotangent, DType error_type) {
  if (objectives.empty() || !graph.loss) {
    return autodiff::append_loss_gradients(graph, cotangent, error_type);
  }
  check_objectives(graph, objectives);
  std::map<const Objective*, std::vector<int>> followers;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ir::ValueData& data = graph.values[id];
    if (data.role != ir::Role::parameter || !data.trainable || data.producer >= 0) continue;
    followers[objective_of(objectives, data.name)].push_back(static_cast<int>(id));
  }
  if (!cotangent) cotangent = autodiff::one(graph);
  std::vector<autodiff::Target> targets;
  const auto add = [&](const Objective* objective, int loss) {
    if (followers.count(objective) == 0) return;
    targets.push_back({{graph.value(loss), cotangent}, followers.at(objective)});
  };
  for (const Objective& objective : objectives) add(&objective, loss_of(graph, objective));
  add(nullptr, *graph.loss);
  return autodiff::append_gradients(graph, targets, error_type);
}

// Makes the parameters and states that the step does not read results of it. So a training holds
// every value of its model, and the files it writes are those of the whole model.
void keep_unread(ir::Graph& graph) {
  std::set<std::string> read;
  for (const ir::ValueData& data : passes::remove_dead_code(graph).values) read.insert(data.name);
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ir::ValueData& data = graph.values[id];
    const bool is_stored = data.role == ir::Role::parameter || data.role == ir::Role::state;
    if (data.producer >= 0 || !is_stored || read.count(data.name) > 0) continue;
    graph.outputs.emplace_back(data.name, static_cast<int>(id));
  }
}

// What to do where no parameter is trained.
std::string what_to_train(const ir::Graph& model) {
  std::string narrow;
  for (const ir::ValueData& data : model.values) {
    const DType dtype = data.type.dtype;
    if (data.role != ir::Role::parameter || data.trainable) continue;
    if (dtype != DType::f16 && dtype != DType::bf16) {
      return "; name those that are trained with --trainable of thimble adapt, or unfreeze of a "
             "graph";
    }
    narrow = fmt::format(
        "; \"{}\" is of {}, and only parameters of f32 are trained: keep it in f32 "
        "and set precision to compute in 16 bits",
        *data.name, to_string(dtype));
  }
  return narrow;
}

}  // namespace

ir::Graph training_graph(const ir::Graph& model, const TrainerOptions& options, int64_t batch,
                         StepKind kind) {
  ir::Graph graph = forward_graph(model, batch, ir::Phase::training);
  graph.outputs.clear();  // predictions are of no use to the step
  graph = passes::copy_stored_results(graph);
  if (options.scheme) mark_trained(trained_parameters(model, *options.scheme), graph);
  freeze_groups(graph, options.groups);
  const Value scale =
      options.precision == DType::f16 ? loss_scale_source(graph, options.loss_scaling) : Value();
  if (options.error_type != DType::f32 && options.error_type != DType::i8) {
    throw Error("error_type",
                fmt::format("expected f32 or i8, got {}", to_string(options.error_type)));
  }
  if (options.error_type == DType::i8 && !computes_int8(graph)) {
    throw Error("error_type",
                "i8 is for gradients of int8 activations, and this model has none; quantize it "
                "first, or leave errors in f32");
  }
  std::vector<autodiff::Gradient> gradients =
      append_gradients(graph, options.objectives, scale, options.error_type);
  if (gradients.empty()) {
    throw Error("trainer", "nothing to train: every parameter is frozen, or there is none" +
                               what_to_train(model));
  }
  const UpdateOptions update{
      .optimizer = options.optimizer,
      .groups = options.groups,
      .clip = options.clip,
      .ema_decay = options.ema_decay,
      .scheduled_momentum = options.schedule && options.schedule->cycles_momentum(),
      .objectives = options.objectives,
      .loss_scale = scale,
      .scaling = options.loss_scaling,
      .quantization_aware_scaling = options.quantization_aware_scaling,
      .integer_rounding = options.integer_rounding};
  const double weight = micro_batch_weight(options, batch);
  switch (kind) {
    case StepKind::update:
      append_updates(graph, gradients, update);
      keep_unread(graph);
      break;
    case StepKind::accumulate:
      append_accumulation(graph, gradients, weight);
      break;
    case StepKind::finish:
      append_accumulated_updates(graph, gradients, update, weight);
      keep_unread(graph);
      break;
    case StepKind::report:
      if (scale) append_unscaling(graph, gradients, scale);
      for (const autodiff::Gradient& gradient : gradients) {
        if (gradient.gradient < 0) continue;
        graph.outputs.emplace_back(graph.data(gradient.value).name, gradient.gradient);
      }
      break;
  }
  return options.scheme ? passes::slice_early(graph) : graph;
}

ir::Graph graph_of_kernels(const ir::Graph& graph, bool fast) {
  ir::Graph made = ops::with_masks_at_once(ops::with_int8_errors(graph));
  if (fast) return made;
  return ops::with_sum_gradients(ops::with_masked_gradients(ops::convolutions_by_rows(made)));
}

ir::Graph evaluation_graph(const ir::Graph& model, int64_t batch) {
  return forward_graph(model, batch, ir::Phase::inference);
}

ir::Graph inference_graph(const ir::Graph& model, int64_t batch, bool with_loss) {
  ir::Graph graph = evaluation_graph(model, batch);
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
  std::map<std::string_view, ir::Name> averages;  // by parameter
  for (const ir::ValueData& data : step.values) {
    if (data.producer < 0 && !data.average_of->empty()) averages[data.average_of] = data.name;
  }
  for (ir::ValueData& data : graph.values) {
    if (data.producer >= 0 || data.role != ir::Role::parameter) continue;
    const auto average = averages.find(data.name);
    if (average == averages.end()) continue;
    data.name = average->second;
    data.role = ir::Role::state;
  }
  return graph;
}

}  // namespace thimble::train
