// The step graphs of a model.
#pragma once

#include <thimble/trainer.h>

#include "exec/program.h"
#include "ir/graph.h"

namespace thimble::train {

// How a training step uses its gradients.
enum class StepKind : uint8_t {
  update,      // updates the parameters at once
  accumulate,  // adds the gradients to their sums
  finish,      // adds them, updates by the mean of the sums, and clears the sums
  report,      // has them as outputs, each by its parameter's name, and updates none
};

// The objective that a parameter follows, the first that matches; null: the graph's loss.
[[nodiscard]] const Objective* objective_of(const std::vector<Objective>& objectives,
                                            const std::string& name);
// Its loss, a value of the graph. Throws Error where the graph has no metric of that name.
[[nodiscard]] int loss_of(const ir::Graph& graph, const Objective& objective);

// The whole step as one graph, the batch fixed. Throws Error.
[[nodiscard]] ir::Graph training_graph(const ir::Graph& model, const TrainerOptions& options,
                                       int64_t batch, StepKind kind);

// The graph as kernels compute it: one node where an op computes what several nodes do. fast: with
// fast kernels where there are any, else with the reference kernels, which device code has.
[[nodiscard]] ir::Graph graph_of_kernels(const ir::Graph& graph, bool fast);

// Weight of a batch of this size in an accumulated mean: 1 for a full one.
[[nodiscard]] double micro_batch_weight(const TrainerOptions& options, int64_t batch);

// The forward part at inference. The loss is kept only if its label is wanted.
[[nodiscard]] ir::Graph inference_graph(const ir::Graph& model, int64_t batch, bool with_loss);

// The forward part at inference with loss, metrics and outputs.
[[nodiscard]] ir::Graph evaluation_graph(const ir::Graph& model, int64_t batch);

// Throws Error unless an output of the model, whose batch is open, has one part per sample, so that
// predictions of batches can be concatenated.
void require_parts_of_samples(const ir::Graph& model, const std::string& output);

// The graph with averages instead of the parameters that the training step averages.
[[nodiscard]] ir::Graph averaged(ir::Graph graph, const ir::Graph& step);

}  // namespace thimble::train
