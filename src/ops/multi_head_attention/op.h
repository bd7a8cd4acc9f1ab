#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <string>

namespace thimble {

struct MultiHeadAttentionOptions {
  int64_t heads = 0;     // must be set; divides the width of the query
  int64_t kv_heads = 0;  // heads of keys and values, divides heads; 0: same as heads
  bool causal = false;   // step t attends to steps 0 to t only
  double dropout = 0.0;  // fraction of the weights that become 0 in training
  bool bias = true;
  bool add_bias_kv = false;    // one more key and value, trained, that no mask hides
  bool add_zero_attn = false;  // one more key and value of zeros, that no mask hides
  std::string name;            // of the layer; empty: multi_head_attention_1, ...
};

// Multi-head attention: queries, keys and values are projected, cut into heads of width E / heads,
// attend (scaled_dot_product_attention) and are projected again.
// query: [N, T, E]; key: [N, S, K]; value: [N, S, W]; mask: none, or [N or 1, heads or 1, T or 1,
// S or 1]: f32 values that are added, or u8 where 0 hides a key; f32; y: [N, T, E].
// Adds the parameters <name>.in_proj_weight [E + 2 G, E] and .in_proj_bias [E + 2 G], where G =
// kv_heads * E / heads, .out_proj.weight [E, E] and .out_proj.bias [E]. Where K or W is not E, the
// weight is in three: .q_proj_weight [E, E], .k_proj_weight [G, K] and .v_proj_weight [G, W]. With
// add_bias_kv also .bias_k and .bias_v [1, 1, G]. Names and initial values as
// torch.nn.MultiheadAttention with batch_first. The T x S weights are never
// stored. Source: Vaswani et al., "Attention is all you need", 2017.
// Errors: Error where sizes do not fit.
Value multi_head_attention(Value query, Value key, Value value, Value mask,
                           const MultiHeadAttentionOptions& options);

// The same with given weights, which creates no parameters: those of another layer, or what a graph
// computes. Of the options heads, kv_heads, causal, dropout, add_zero_attn and name count.
struct MultiHeadAttentionWeights {
  Value in_proj_weight;   // [E + 2 G, E], or none where the next three are given
  Value q_proj_weight;    // [E, E]
  Value k_proj_weight;    // [G, K]
  Value v_proj_weight;    // [G, W]
  Value in_proj_bias;     // [E + 2 G], or none
  Value out_proj_weight;  // [E, E]
  Value out_proj_bias;    // [E], or none
  Value bias_k;           // [1, 1, G], or none
  Value bias_v;           // likewise; both or neither
};
Value multi_head_attention(Value query, Value key, Value value, Value mask,
                           const MultiHeadAttentionWeights& weights,
                           const MultiHeadAttentionOptions& options);

// The same with the attention weights beside the result, which takes the memory that is otherwise
// saved. A query that an f32 mask lets see no key gives NaN, as in PyTorch.
struct AttentionResult {
  Value y;        // [N, T, E]
  Value weights;  // after dropout: [N, heads, T, S], or their mean over the heads, [N, T, S]; keys
                  // that add_bias_kv and add_zero_attn add come last
};
AttentionResult multi_head_attention_with_weights(Value query, Value key, Value value, Value mask,
                                                  const MultiHeadAttentionOptions& options,
                                                  bool per_head = false);
AttentionResult multi_head_attention_with_weights(Value query, Value key, Value value, Value mask,
                                                  const MultiHeadAttentionWeights& weights,
                                                  const MultiHeadAttentionOptions& options,
                                                  bool per_head = false);

// Self-attention: query, key and value are x. Without a mask; causal hides later steps.
Value multi_head_attention(Value x, const MultiHeadAttentionOptions& options);

}  // namespace thimble
