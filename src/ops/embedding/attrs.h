// The attributes of embedding, as generic code sees them.
#pragma once

#include <thimble/ops/embedding.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(EmbeddingAttrs& a, ir::FieldVisitor& v) {
  v.field("padding_idx", a.padding_idx, "the row of this index gets no gradient; -1: none");
  v.field("max_norm", a.max_norm, "longer rows are shortened to this norm; 0: none");
  v.field("norm_type", a.norm_type, "the p of that norm, above 0");
  v.field("scale_grad_by_freq", a.scale_grad_by_freq,
          "a row's gradient is the mean over the places it is read");
  v.field("sparse", a.sparse, "the weight's gradient is kept as rows");
}

struct EmbeddingRenormAttrs {
  double max_norm = 1.0;
  double norm_type = 2.0;
};

inline void describe(EmbeddingRenormAttrs& a, ir::FieldVisitor& v) {
  v.field("max_norm", a.max_norm, "longer rows are shortened to this norm");
  v.field("norm_type", a.norm_type, "the p of that norm, above 0");
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
