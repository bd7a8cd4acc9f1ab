// The attributes of embedding, as generic code sees them.
#pragma once

#include <thimble/ops/embedding.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(EmbeddingAttrs& a, ir::FieldVisitor& v) {
  v.field("padding_idx", a.padding_idx, "the row of this index gets no gradient; -1: none");
}

struct EmbeddingGradAttrs {
  int64_t embeddings = 0;
  int64_t padding_idx = -1;
};

inline void describe(EmbeddingGradAttrs& a, ir::FieldVisitor& v) {
  v.field("embeddings", a.embeddings, "rows of the weight");
  v.field("padding_idx", a.padding_idx, "the row of this index gets no gradient; -1: none");
}

}  // namespace thimble
