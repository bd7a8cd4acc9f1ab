#pragma once

#include <thimble/ops/cosine_embedding.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(CosineEmbeddingOptions& a, ir::FieldVisitor& v) {
  v.field("reduction", a.reduction, "how the rows become one number");
  v.field("margin", a.margin, "below which unlike pairs count nothing");
}

}  // namespace thimble
