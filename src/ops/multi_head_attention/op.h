#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <string>

namespace thimble {

struct MultiHeadAttentionOptions {
  int64_t heads = 0;     // must be set; divides the width of the query
  int64_t kv_heads = 0;  // of keys and values, divides heads; 0: as many as heads
  bool causal = false;   // step t sees the steps 0 to t alone
  double dropout = 0.0;  // share of the weights that become 0 in training
  bool bias = true;
  std::string name;  // of the layer; empty: multi_head_attention_1, ...
};

// Multi-head attention: queries, keys and values are projected, cut into heads of width E / heads,
// attend (scaled_dot_product_attention) and are projected again.
// query: [N, T, E]; key: [N, S, K]; value: [N, S, W]; mask: none, or [N or 1, heads or 1, T or 1,
// S or 1]: f32 values that are added, or u8 where 0 hides a key; f32; y: [N, T, E].
// Adds the parameters <name>.in_proj_weight [E + 2 G, E] and .in_proj_bias [E + 2 G], where G =
// kv_heads * E / heads, .out_proj.weight [E, E] and .out_proj.bias [E]. Where K or W is not E, the
// weight is in three: .q_proj_weight [E, E], .k_proj_weight [G, K] and .v_proj_weight [G, W]. Names
// and initial values as torch.nn.MultiheadAttention with batch_first. The T x S weights are never
// stored. Source: Vaswani et al., "Attention is all you need", 2017.
// Errors: Error where sizes do not fit.
Value multi_head_attention(Value query, Value key, Value value, Value mask,
                           const MultiHeadAttentionOptions& options);

// Self-attention: query, key and value are x. Without a mask; causal hides later steps.
Value multi_head_attention(Value x, const MultiHeadAttentionOptions& options);

}  // namespace thimble
