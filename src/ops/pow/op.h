#pragma once

#include <thimble/graph.h>

namespace thimble {

struct PowAttrs {
  double exponent = 2.0;  // one number for all elements
};
void describe(PowAttrs& attrs, ir::FieldVisitor& visitor);

// y = x^exponent, element by element. x: any shape, f32.
Value pow(Value x, const PowAttrs& attrs = {});

// pow with the exponent as a number.
inline Value pow(Value x, double exponent) { return pow(x, PowAttrs{.exponent = exponent}); }

// y = x^exponent for two tensors, element by element, with the special values of C99's pow: NaN for
// a negative x and an exponent that is not whole. x and exponent: f32, at most 8 dimensions,
// broadcast as in NumPy. Throws Error where they do not fit. The gradients are PyTorch's: that of x
// is 0 where the exponent is 0; that of the exponent is y log(x), but 0 where x is 0 and the
// exponent is not negative, and NaN for negative x.
Value pow(Value x, Value exponent);

}  // namespace thimble
