#pragma once

#include <thimble/graph.h>
#include <thimble/types.h>

namespace thimble {

struct To16BitAttrs {
  DType dtype = DType::bf16;  // or f16
};
void describe(To16BitAttrs& attrs, ir::FieldVisitor& visitor);

// x in 16 bits an element, to the nearest number of that type, ties to even; beyond the largest it
// is infinite. bf16 keeps 8 significant bits in the range of f32, f16 keeps 11 up to 65504.
// x: any shape, f32. For what is kept for later: no other op takes the result.
Value to_16bit(Value x, const To16BitAttrs& attrs = {});

// Such numbers converted back to f32, exactly. x: any shape, f16 or bf16.
Value from_16bit(Value x);

}  // namespace thimble
