#pragma once

#include <thimble/graph.h>

namespace thimble {

struct PowAttrs {
  double exponent = 2.0;  // the same for all elements
};

// y = x^exponent, element by element. x: any shape, f32.
Value pow(Value x, const PowAttrs& attrs = {});

inline Value pow(Value x, double exponent) { return pow(x, PowAttrs{.exponent = exponent}); }

}  // namespace thimble
