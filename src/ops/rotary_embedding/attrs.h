// The attributes of rotary embedding's op, as generic code sees them.
#pragma once

#include <thimble/ops/rotary_embedding.h>

#include "ir/attrs.h"

namespace thimble {

struct RotatePairsAttrs {
  bool interleaved = false;
  bool inverse = false;
};

inline void describe(RotatePairsAttrs& a, ir::FieldVisitor& v) {
  v.field("interleaved", a.interleaved, "pairs are neighbours, not halves");
  v.field("inverse", a.inverse, "rotate by the negative angles");
}

}  // namespace thimble
