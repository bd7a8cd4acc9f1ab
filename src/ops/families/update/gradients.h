// Modifications of gradients in a training step besides the optimizer's rule. They are composed of
// ops, so that the trainer names no op.
#pragma once

#include <thimble/graph.h>
#include <thimble/ops/coalesce_rows.h>

#include <cstdint>
#include <span>

namespace thimble::ops {

// x * factor. factor: one number.
[[nodiscard]] Value times(Value x, Value factor);

// The sum of sparse gradients, each given by some of its rows; the sum is sparse, too. rows: of the
// whole gradient.
[[nodiscard]] RowGradient sum_of_rows(std::span<const RowGradient> parts, int64_t rows);

// grad + l1 * sign(param) + l2 * param.
[[nodiscard]] Value with_penalties(Value grad, Value param, double l1, double l2);

// The sum of squares of the elements, plus `previous` if given.
[[nodiscard]] Value squared_norm(Value grad, Value previous = {});
// grad scaled down to a norm of at most max_norm. squares: the squared norm.
[[nodiscard]] Value within_norm(Value grad, Value squares, double max_norm);
// Every element clamped to [-limit, limit].
[[nodiscard]] Value within_limit(Value grad, double limit);

// Of a scaled loss: whether an element of grad is not finite, or `previous`, if given, is not 0;
// one i32.
[[nodiscard]] Value overflow(Value grad, Value previous = {});
// grad / scale in f32; grad may be of 16 bits.
[[nodiscard]] Value unscaled(Value grad, Value scale);
// The number of the update: 0, for none, if `found` is not 0, else step - skipped.
[[nodiscard]] Value number_of_update(Value step, Value skipped, Value found);
// The loss scale after a step, in place, with its counters of steps.
struct LossScale {
  Value scale;
  Value good_steps;
  Value skipped;
};
struct LossScaleRule {
  double growth;
  double backoff;
  int64_t interval;
};
void adapt(const LossScale& scale, Value found, const LossScaleRule& rule);

// sum += weight * grad, in place.
void add_to_sum(Value sum, Value grad, double weight);
// (sum + weight * grad) / total; sets sum to 0.
[[nodiscard]] Value mean_of_sum(Value sum, Value grad, Value total, double weight);

// average = decay * average + (1 - decay) * param, in place; the first step copies param. step: the
// number of this update, from 1; 0 changes nothing.
void update_average(Value average, Value param, Value step, double decay);

}  // namespace thimble::ops
