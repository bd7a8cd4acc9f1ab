#pragma once

#include <thimble/ops/adam_update.h>

namespace thimble {

// adam_update with decoupled weight decay: the parameter itself is first multiplied by
// 1 - lr * weight_decay. Source: Loshchilov and Hutter, "Decoupled weight decay regularization",
// 2019.
Value adamw_update(Value param, Value grad, Value lr, Value step, std::span<const Value> states,
                   const AdamUpdateOptions& options);

}  // namespace thimble
