#include <thimble/ops/adamw_update.h>

#include "ops/common/adam.h"

namespace thimble::ops {
namespace {

struct AdamW : AdamFamily<true> {
  static constexpr const char* name = "adamw_update";
  static constexpr const char* doc =
      "AdamW, in place: param *= 1 - lr * lr_scale * weight_decay, then a step of Adam without "
      "weight "
      "decay. Equal to torch.optim.AdamW.";
  static constexpr const char* example =
      "auto updated = adamw_update(param, grad, lr, step, {exp_avg, exp_avg_sq}, "
      "AdamUpdateOptions{});";
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(adamw_update) { return Update<AdamW>::folder(); }

namespace thimble {

Value adamw_update(Value param, Value grad, Value lr, Value step, std::span<const Value> states,
                   const AdamUpdateOptions& options) {
  return ops::Update<ops::AdamW>::apply(param, grad, lr, step, states, options);
}

}  // namespace thimble
