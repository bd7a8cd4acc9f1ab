#pragma once

#include <thimble/graph.h>

#include <span>

namespace thimble {

// PyTorch's torch.optim.RMSprop, without the learning rate.
struct RmspropUpdateOptions {
  double alpha = 0.99;
  double epsilon = 1e-8;
  double momentum = 0.0;
  bool centered = false;
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  bool maximize = false;
  bool epsilon_inside_root = false;  // divide by sqrt(v + epsilon), not by sqrt(v) + epsilon
  double lr_scale = 1.0;             // the learning rate's factor for this parameter
};

// One step of RMSProp on param, in place. param, grad: of one shape, f32. lr: one f32. step: one
// i32, this update's number, from 1. states: {square_avg}, then grad_avg where centered, then
// momentum_buffer where the momentum is not 0. Returns the parameter's new value.
// Source: Tieleman and Hinton, lecture 6.5 of "Neural networks for machine learning", 2012;
// centered: Graves, "Generating sequences with recurrent neural networks", 2013.
Value rmsprop_update(Value param, Value grad, Value lr, Value step, std::span<const Value> states,
                     const RmspropUpdateOptions& options);

}  // namespace thimble
