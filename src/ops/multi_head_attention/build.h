// Multi-head attention of given parameters.
#pragma once

#include <thimble/ops/multi_head_attention.h>

namespace thimble::ops::multi_head_attention_impl {

struct AttentionWeights {
  Value q, k, v;                 // [E, E], [G, K], [G, W]
  Value q_bias, k_bias, v_bias;  // [E], [G], [G], or none
  Value out;                     // [E, E]
  Value out_bias;                // [E], or none
};

// Width of all the heads of keys. Throws Error where options and shapes do not fit.
int64_t check_attention_layer(Value query, Value key, Value value,
                              const MultiHeadAttentionOptions& options);

// The parts of in_proj_weight or in_proj_bias. Cutting up the weight costs less than cutting up
// what it makes of every step.
void set_packed(AttentionWeights& weights, Value in_proj_weight, Value in_proj_bias, int64_t width,
                int64_t kv_width);

Value attend(Value query, Value key, Value value, Value mask, const AttentionWeights& weights,
             const MultiHeadAttentionOptions& options);

}  // namespace thimble::ops::multi_head_attention_impl
