// The attributes of attention, as generic code sees them.
#pragma once

#include <thimble/ops/scaled_dot_product_attention.h>

#include "ir/attrs.h"

namespace thimble {

struct AttentionAttrs {
  bool causal = false;
  double scale = 1.0;
  double dropout = 0.0;
  int64_t stream = 0;
};

inline void describe(AttentionAttrs& a, ir::FieldVisitor& v) {
  v.field("causal", a.causal, "query t sees the keys 0 to t alone");
  v.field("scale", a.scale, "of the products");
  v.field("dropout", a.dropout, "share of the weights that become 0 in training");
  v.field("stream", a.stream, "number of this draw within a step, for independent random numbers");
}

}  // namespace thimble
