#pragma once

#include "ir/attrs.h"

namespace thimble {

struct CastAttrs {
  DType dtype = DType::f32;
};

inline void describe(CastAttrs& a, ir::FieldVisitor& v) {
  v.field("dtype", a.dtype, "the type of the result");
}

}  // namespace thimble
