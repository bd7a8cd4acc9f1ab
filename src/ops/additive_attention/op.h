#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <string>

namespace thimble {

struct AdditiveAttentionOptions {
  int64_t units = 0;  // width of the hidden layer; must be set
  bool bias = true;   // of the hidden layer
  std::string name;   // of the layer; empty: additive_attention_1, ...
};

// Additive attention: y[n, t] = sum over s of softmax over s of (score . tanh(W_q query[n, t] +
// W_k key[n, s] + b)) value[n, s].
// query: [N, T, Q]; key: [N, S, K]; value: [N, S, E]; mask: none, or [N or 1, T or 1, S or 1], u8,
// where 0 hides a key (hidden keys count alike where all are); y: [N, T, E]; f32. Stores T x S x
// units numbers in training. Adds the parameters <name>.query_weight [units, Q], .key_weight
// [units, K], .bias [units] and .score_weight [1, units], all first U(-1/sqrt(columns),
// 1/sqrt(columns)). Source: Bahdanau et al., "Neural machine translation by jointly learning to
// align and translate", 2014. Errors: Error where sizes do not fit.
Value additive_attention(Value query, Value key, Value value, Value mask,
                         const AdditiveAttentionOptions& options);
Value additive_attention(Value query, Value key, Value value,
                         const AdditiveAttentionOptions& options);

// The same with given weights, which creates no parameters. mask: as above, or none.
struct AdditiveAttentionWeights {
  Value query;  // [units, Q]
  Value key;    // [units, K]
  Value bias;   // [units], or none
  Value score;  // [1, units]
};
Value additive_attention(Value query, Value key, Value value, Value mask,
                         const AdditiveAttentionWeights& weights, const std::string& name = {});

}  // namespace thimble
