#pragma once

#include <thimble/graph.h>

namespace thimble {

struct AffineAttrs {
  double scale = 1.0;
  double shift = 0.0;
};

// y = scale * x + shift, two numbers and a tensor, element by element. x: any shape, f32. The
// numbers are rounded to float.
Value affine(Value x, const AffineAttrs& attrs);

// Tensors and numbers. x / c multiplies with 1 / c, rounded: the last bit of a quotient may differ.
inline Value operator+(Value x, double c) { return affine(x, {.shift = c}); }
inline Value operator+(double c, Value x) { return affine(x, {.shift = c}); }
inline Value operator-(Value x, double c) { return affine(x, {.shift = -c}); }
inline Value operator-(double c, Value x) { return affine(x, {.scale = -1.0, .shift = c}); }
inline Value operator*(Value x, double c) { return affine(x, {.scale = c}); }
inline Value operator*(double c, Value x) { return affine(x, {.scale = c}); }
inline Value operator/(Value x, double c) { return affine(x, {.scale = 1.0 / c}); }

}  // namespace thimble
