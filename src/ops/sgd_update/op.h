#pragma once

#include <thimble/graph.h>

#include <span>

namespace thimble {

// PyTorch's torch.optim.SGD, without the learning rate.
struct SgdUpdateOptions {
  double momentum = 0.0;
  double dampening = 0.0;
  bool nesterov = false;
  double weight_decay = 0.0;  // added to the gradient, times the parameter
  bool maximize = false;
  double lr_scale = 1.0;  // the learning rate's factor for this parameter
};

// One step of stochastic gradient descent on param, in place. param, grad: of one shape, f32.
// lr: one f32. step: one i32, this update's number, from 1. states: {momentum_buffer} where the
// momentum is not 0, else empty. Returns the parameter's new value.
// Source: Sutskever et al., "On the importance of initialization and momentum in deep learning",
// 2013, in the form PyTorch gives it.
Value sgd_update(Value param, Value grad, Value lr, Value step, std::span<const Value> states,
                 const SgdUpdateOptions& options);

}  // namespace thimble
