#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

// The ops of a dynamic loss scale. Gradients that are too small for f16 are computed of the loss
// times a scale, and divided by it before they are used; where one overflows, the update is skipped
// and the scale falls. Source: Micikevicius et al., "Mixed Precision Training", 2018, section 3.2;
// torch.amp.GradScaler.

// 1 if an element of x is infinite or NaN, or previous (one i32, optional) is not 0; else 0. x:
// f32, f16 or bf16. Returns one i32.
Value has_non_finite(Value x, Value previous = {});

// grad / scale in f32. grad: f32, f16 or bf16. scale: one f32.
Value unscale_gradient(Value grad, Value scale);

// The number of an update, from 1, as optimizers take it: 0, which tells them to do nothing, if
// found is not 0, else step - skipped. All are one i32. step: the number of this step, from 1;
// skipped: steps whose update was skipped before.
Value update_number(Value step, Value skipped, Value found);

struct LossScaleOptions {
  double growth = 2.0;      // factor after `interval` steps with finite gradients, at least 1
  double backoff = 0.5;     // factor after a step whose gradients were not, above 0 and below 1
  int64_t interval = 2000;  // at least 1
};

// The scale after a step, in place: scale * backoff if found is not 0; else scale * growth after
// every `interval` such steps in a row, if that is finite. scale: a state, one f32. good_steps (in
// a row, since the scale last changed), skipped (in all): states, one i32. found: one i32. Returns
// the new scale.
Value update_loss_scale(Value scale, Value good_steps, Value skipped, Value found,
                        const LossScaleOptions& options = {});

}  // namespace thimble
