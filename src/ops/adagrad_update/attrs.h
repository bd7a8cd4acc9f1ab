#pragma once

#include <thimble/ops/adagrad_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(Adagrad& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("lr_decay", a.lr_decay, "the rate of step t is lr / (1 + (t - 1) * lr_decay)");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("initial_accumulator_value", a.initial_accumulator_value,
          "where the sum of squares starts");
  v.field("epsilon", a.epsilon, "added to the root of the sum of squares");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
