#pragma once

#include <thimble/graph.h>

#include <span>

namespace thimble {

// PyTorch's torch.optim.Adam, without the learning rate.
struct AdamUpdateOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;
  bool amsgrad = false;
  bool maximize = false;
  double lr_scale = 1.0;  // the learning rate's factor for this parameter
};

// One step of Adam on param, in place; weight decay is added to the gradient. param, grad: of one
// shape, f32. lr: one f32. step: one i32, this update's number, from 1. states: {exp_avg,
// exp_avg_sq}, then max_exp_avg_sq where amsgrad is set. Returns the parameter's new value.
// Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015; amsgrad: Reddi et al.,
// "On the convergence of Adam and beyond", 2018.
Value adam_update(Value param, Value grad, Value lr, Value step, std::span<const Value> states,
                  const AdamUpdateOptions& options);

}  // namespace thimble
