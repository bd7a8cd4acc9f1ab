#pragma once

#include <thimble/graph.h>

namespace thimble {

struct AffineAttrs {
  double scale = 1.0;
  double shift = 0.0;
};
void describe(AffineAttrs& attrs, ir::FieldVisitor& visitor);

// y = scale * x + shift with two numbers, element by element. x: any shape, f32. The numbers are
// rounded to float.
Value affine(Value x, const AffineAttrs& attrs);

// Operators of tensors and numbers. For quotients see thimble/ops/div.h.
inline Value operator+(Value x, double c) { return affine(x, {.shift = c}); }
inline Value operator+(double c, Value x) { return affine(x, {.shift = c}); }
inline Value operator-(Value x, double c) { return affine(x, {.shift = -c}); }
inline Value operator-(double c, Value x) { return affine(x, {.scale = -1.0, .shift = c}); }
inline Value operator*(Value x, double c) { return affine(x, {.scale = c}); }
inline Value operator*(double c, Value x) { return affine(x, {.scale = c}); }

}  // namespace thimble
