#pragma once

#include <thimble/graph.h>

namespace thimble {

struct ClipByNormOptions {
  double max_norm = 1.0;  // above 0
};
void describe(ClipByNormOptions& options, ir::FieldVisitor& visitor);

struct ClipByValueOptions {
  double limit = 1.0;  // above 0
};
void describe(ClipByValueOptions& options, ir::FieldVisitor& visitor);

// The sum of squares of x's elements, plus `previous` if given: one f32. x: any shape, f32. A chain
// of these ops gives the squared norm of several tensors together.
Value sum_squares(Value x, Value previous = {});

// grad * min(1, max_norm / (sqrt(squares) + 1e-6)), which has a norm of at most max_norm. grad: any
// shape, f32. squares: one f32, the squared norm. Equal to torch.nn.utils.clip_grad_norm_.
Value clip_by_norm(Value grad, Value squares, const ClipByNormOptions& options);

// Every element of grad clamped to [-limit, limit]; NaN stays. grad: any shape, f32. Equal to
// torch.nn.utils.clip_grad_value_.
Value clip_by_value(Value grad, const ClipByValueOptions& options);

}  // namespace thimble
