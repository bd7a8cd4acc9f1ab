// Turns gradients into a training step: limits, accumulation and the update of every parameter.
#pragma once

#include <thimble/optimizers.h>
#include <thimble/trainer_options.h>

#include <span>
#include <string_view>
#include <vector>

#include "autodiff/autodiff.h"
#include "ir/graph.h"

namespace thimble::train {

// Scalars that the trainer sets before each step.
inline constexpr const char* kLearningRateName = "@lr";           // f32
inline constexpr const char* kUpdateNumberName = "@step";         // i32: updates so far, plus 1
inline constexpr const char* kTotalWeightName = "@total_weight";  // f32: see append_accumulation
inline constexpr const char* kMomentumName = "@momentum";         // f32: if it is scheduled

struct UpdateOptions {
  Optimizer optimizer = AdamW{};
  std::vector<ParamGroup> groups;  // the first match counts
  GradientClip clip;
  double ema_decay = 0.0;             // 0: no averages
  bool scheduled_momentum = false;    // the momentum is also a scalar source
  std::vector<Objective> objectives;  // the first whose pattern matches may have an optimizer
  Value loss_scale;                   // none: gradients are those of the loss itself
  LossScaling scaling;
  bool quantization_aware_scaling = true;
  IntegerRounding integer_rounding = IntegerRounding::stochastic;
};

// With f16, the loss is multiplied by the state kLossScaleName, and gradients are divided by it
// before anything else looks at them; if one is not finite, nothing is updated.
inline constexpr const char* kLossScaleName = "@loss_scale";             // f32
inline constexpr const char* kGoodStepsName = "@loss_scale.good_steps";  // i32: since it changed
inline constexpr const char* kSkippedName = "@loss_scale.skipped";       // i32: updates skipped

// The state of that name, as a source.
[[nodiscard]] Value loss_scale_source(ir::Graph& graph, const LossScaling& scaling);
// The gradients of a scaled loss as those of the loss, in f32.
void append_unscaling(ir::Graph& graph, std::span<autodiff::Gradient> gradients, Value scale);

// The average of a parameter is the state "<parameter>.ema", whose average_of names the parameter.
inline constexpr const char* kAverageName = "ema";

// The sum of the gradients since the last update is the state "<parameter>.grad_sum".
inline constexpr const char* kGradientSumName = "grad_sum";

// What rounding left of the changes of a parameter of whole numbers is the state
// "<parameter>.residual".
inline constexpr const char* kResidualName = "residual";

// Freezes the parameters of frozen groups. Call it before gradients are appended. Throws Error if a
// pattern matches no parameter.
void freeze_groups(ir::Graph& graph, const std::vector<ParamGroup>& groups);

// Appends one update for every gradient (-1: none), after its limit. Moments become states
// "<parameter>.exp_avg" and so on (PyTorch's names), initially zero. A state has '@' before its
// name where the model has a value of that name. Throws Error for invalid groups and limits.
void append_updates(ir::Graph& graph, std::span<const autodiff::Gradient> gradients,
                    const UpdateOptions& options);

// Gradient accumulation: one update from the gradients of several micro-batches. Two graphs over
// one store share the states kGradientSumName. The first graph adds weight times its gradients to
// the sums. The second one adds its own, applies limits and updates with the sums divided by the
// scalar total_weight (the sum of the weights of all micro-batches), and clears the sums. Equal
// micro-batches have weight 1 and total_weight is their number. A smaller one weighs less, by its
// share of the samples, if its loss is a mean over them.
void append_accumulation(ir::Graph& graph, std::span<const autodiff::Gradient> gradients,
                         double weight = 1.0);
void append_accumulated_updates(ir::Graph& graph, std::span<const autodiff::Gradient> gradients,
                                const UpdateOptions& options, double weight = 1.0);

}  // namespace thimble::train
