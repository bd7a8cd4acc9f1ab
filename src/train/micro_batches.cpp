#include "train/micro_batches.h"

#include <fmt/format.h>

#include "passes/passes.h"
#include "train/compile.h"
#include "train/sample_flow.h"

namespace thimble::train {
namespace {

// The field of which a value is a view; empty if the value is computed.
std::string source_of(const ir::Graph& graph, int value) {
  for (int node = graph.data(value).producer; node >= 0; node = graph.data(value).producer) {
    const ir::Node& view = graph.nodes[static_cast<size_t>(node)];
    if (view.op->memory.views.empty()) return "";
    value = view.input(view.op->memory.views[0].in);
  }
  return graph.data(value).name;
}

// Why a loss is no mean over samples; empty where it is.
std::string why_no_mean(const ir::Graph& forward, const SampleFlow& flow, int loss) {
  const auto at = static_cast<size_t>(loss);
  if (flow.holds[at] == Holds::nothing || flow.holds[at] == Holds::mean) return "";
  if (flow.culprit[at] < 0) return "the loss is no mean over samples";
  const ir::Node& node = forward.nodes[static_cast<size_t>(flow.culprit[at])];
  return fmt::format("{} computes from several samples what is no mean over them{}",
                     name_of(forward, node),
                     forward.data(loss).producer == flow.culprit[at]
                         ? "; let the loss be a mean, without weights of classes"
                         : "");
}

std::string why_not(const ir::Graph& forward, const TrainerOptions& options) {
  const SampleFlow flow = follow_samples(forward, options.split_batch_norm);
  for (const LeftOut& left_out : flow.left_out) {
    if (!source_of(forward, left_out.value).empty()) continue;
    return fmt::format("{} leaves labels of {} out of its mean, and they are computed by the model",
                       name_of(forward, forward.nodes[static_cast<size_t>(left_out.node)]),
                       left_out.label);
  }
  if (!flow.refused.empty() || !forward.loss) return flow.refused;
  std::vector<int> losses{*forward.loss};
  for (const Objective& objective : options.objectives) {
    losses.push_back(loss_of(forward, objective));
  }
  for (const int loss : losses) {
    const std::string why = why_no_mean(forward, flow, loss);
    if (!why.empty()) return why;
  }
  return "";
}

}  // namespace

std::string why_not_micro_batches(const ir::Graph& model, const TrainerOptions& options) {
  const ir::Graph forward = passes::specialize(model, ir::Phase::training);
  std::string why = why_not(forward, options);
  if (!why.empty()) return why;
  // Building the accumulating graph throws for what accumulation cannot do, such as sparse
  // gradients.
  const int64_t size = divided_up(options.batch, std::max<int64_t>(options.micro_batches, 1));
  try {
    static_cast<void>(training_graph(model, options, size, StepKind::accumulate));
  } catch (const Error& error) {
    static_cast<void>(training_graph(model, options, options.batch, StepKind::update));
    return error.what();
  }
  return "";
}

std::vector<IgnoredLabel> ignored_labels(const ir::Graph& model) {
  const ir::Graph forward = passes::specialize(model, ir::Phase::training);
  std::vector<IgnoredLabel> labels;
  for (const LeftOut& left_out : follow_samples(forward, true).left_out) {
    labels.push_back({source_of(forward, left_out.value), left_out.label});
  }
  return labels;
}

}  // namespace thimble::train
