#include <thimble/ops/adam_update.h>

#include "ops/common/adam.h"

namespace thimble::ops {
namespace {

struct Adam : AdamFamily<false> {
  static constexpr const char* name = "adam_update";
  static constexpr const char* doc =
      "Adam, in place: g = grad + weight_decay * param; m += (1 - beta1) * (g - m); "
      "v = beta2 * v + (1 - beta2) * g^2; param -= lr * lr_scale * m / (1 - beta1^step) / "
      "(sqrt(v / (1 - beta2^step)) + epsilon); with amsgrad the largest v so far stands in for v. "
      "Equal to torch.optim.Adam.";
  static constexpr const char* example =
      "auto updated = adam_update(param, grad, lr, step, {exp_avg, exp_avg_sq}, "
      "AdamUpdateOptions{});";
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(adam_update) { return Update<Adam>::folder(); }

namespace thimble {

Value adam_update(Value param, Value grad, Value lr, Value step, std::span<const Value> states,
                  const AdamUpdateOptions& options) {
  return ops::Update<ops::Adam>::apply(param, grad, lr, step, states, options);
}

}  // namespace thimble
