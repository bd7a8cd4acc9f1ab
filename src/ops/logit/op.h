#pragma once

#include <thimble/graph.h>

namespace thimble {

struct LogitAttrs {
  double eps = -1.0;  // x is clamped to [eps, 1 - eps]; below 0: not clamped
};
void describe(LogitAttrs& attrs, ir::FieldVisitor& visitor);

// y = log(x / (1 - x)), element by element; x is first clamped to [eps, 1 - eps] if eps is not
// negative, else y is NaN outside [0, 1]. x: any shape, f32. Throws Error unless eps <= 0.5.
Value logit(Value x, const LogitAttrs& attrs = {});

}  // namespace thimble
