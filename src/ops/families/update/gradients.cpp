#include "ops/families/update/gradients.h"

#include <thimble/ops/accumulate_gradient.h>
#include <thimble/ops/average_weights.h>
#include <thimble/ops/clip_gradient.h>
#include <thimble/ops/concat.h>
#include <thimble/ops/loss_scale.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/regularize_gradient.h>

#include <vector>

namespace thimble::ops {

Value times(Value x, Value factor) { return mul(x, factor); }

RowGradient sum_of_rows(std::span<const RowGradient> parts, int64_t rows) {
  if (parts.size() == 1) return parts[0];
  std::vector<Value> sums;
  std::vector<Value> numbers;
  for (const RowGradient& part : parts) {
    sums.push_back(part.sums);
    numbers.push_back(part.rows);
  }
  return coalesce_rows(concat(sums, {.axis = 0}), concat(numbers, {.axis = 0}), {.rows = rows});
}

Value with_penalties(Value grad, Value param, double l1, double l2) {
  return regularize_gradient(grad, param, {.l1 = l1, .l2 = l2});
}

Value squared_norm(Value grad, Value previous) { return sum_squares(grad, previous); }

Value within_norm(Value grad, Value squares, double max_norm) {
  return clip_by_norm(grad, squares, {.max_norm = max_norm});
}

Value within_limit(Value grad, double limit) { return clip_by_value(grad, {.limit = limit}); }

Value overflow(Value grad, Value previous) { return has_non_finite(grad, previous); }

Value unscaled(Value grad, Value scale) { return unscale_gradient(grad, scale); }

Value number_of_update(Value step, Value skipped, Value found) {
  return update_number(step, skipped, found);
}

void adapt(const LossScale& scale, Value found, const LossScaleRule& rule) {
  update_loss_scale(scale.scale, scale.good_steps, scale.skipped, found,
                    {.growth = rule.growth, .backoff = rule.backoff, .interval = rule.interval});
}

void add_to_sum(Value sum, Value grad, double weight) {
  accumulate_gradient(sum, grad, {.weight = weight});
}

Value mean_of_sum(Value sum, Value grad, Value total, double weight) {
  return mean_gradient(sum, grad, total, {.weight = weight});
}

void update_average(Value average, Value param, Value step, double decay) {
  average_weights(average, param, step, {.decay = decay});
}

}  // namespace thimble::ops
