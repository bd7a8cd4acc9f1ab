#pragma once

#include <thimble/graph.h>

namespace thimble {

struct HardshrinkAttrs {
  double lambd = 0.5;  // half the width of the interval that is set to 0
};
void describe(HardshrinkAttrs& attrs, ir::FieldVisitor& visitor);

// y = x where |x| > lambd, else 0, element by element. x: any shape, f32.
Value hardshrink(Value x, const HardshrinkAttrs& attrs = {});

}  // namespace thimble
