#pragma once

#include <thimble/graph.h>

namespace thimble {

struct AttentionOptions {
  bool causal = false;   // query t attends to keys 0 to t only
  double scale = 0.0;    // factor of the products; 0: 1 / sqrt(D)
  double dropout = 0.0;  // fraction of the weights that become 0 in training
};

// Attention: y[n, t, h] = sum over s of softmax over s of (q[n, t, h] . k[n, s, g] * scale + mask)
// v[n, s, g], where g = h / (H / G). With G = H every head has keys of its own; with fewer, heads
// share them (grouped-query attention; G = 1: multi-query attention).
// q: [N, T, H, D]; k: [N, S, G, D]; v: [N, S, G, E]; G divides H; y: [N, T, H, E]; f32. Positions
// stand before heads, as a dense layer and a reshape leave them.
// mask: none, or of shape [N or 1, H or 1, T or 1, S or 1]: f32 values that are added, or u8 where
// 0 hides a key. A query that sees no key gives 0. The T x S weights are never stored: they are
// computed block by block, and recomputed in the backward pass. Dropout follows the seed, the step
// and the place in the graph alone; nothing at inference. Source: Vaswani et al., "Attention is all
// you need", 2017; Dao et al., "FlashAttention", 2022; Ainslie et al., "GQA", 2023. Errors: Error
// where shapes do not fit.
Value scaled_dot_product_attention(Value q, Value k, Value v, Value mask,
                                   const AttentionOptions& options = {});
Value scaled_dot_product_attention(Value q, Value k, Value v, const AttentionOptions& options = {});

}  // namespace thimble
