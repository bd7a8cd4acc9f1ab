#pragma once

#include <thimble/graph.h>

namespace thimble {

struct SoftshrinkAttrs {
  double lambd = 0.5;  // half the width of the interval that is set to 0
};
void describe(SoftshrinkAttrs& attrs, ir::FieldVisitor& visitor);

// y = x - lambd for x > lambd, x + lambd for x < -lambd, else 0, element by element. x: any
// shape, f32. Source: Donoho, "De-noising by soft-thresholding", 1995. Throws Error unless lambd
// >= 0.
Value softshrink(Value x, const SoftshrinkAttrs& attrs = {});

}  // namespace thimble
