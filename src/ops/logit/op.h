#pragma once

#include <thimble/graph.h>

namespace thimble {

struct LogitAttrs {
  double eps = -1.0;  // distance from 0 and 1 that x keeps; below 0 for none
};

// y = log(x / (1 - x)), of x limited to [eps, 1 - eps] where eps is not negative, else NaN
// outside [0, 1], element by element. x: any shape, f32. Throws Error unless eps <= 0.5.
Value logit(Value x, const LogitAttrs& attrs = {});

}  // namespace thimble
