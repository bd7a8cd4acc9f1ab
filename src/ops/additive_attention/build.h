// Additive attention of given parameters.
#pragma once

#include <thimble/ops/additive_attention.h>

namespace thimble::ops::additive_attention_impl {

struct AdditiveWeights {
  Value query;  // [units, Q]
  Value key;    // [units, K]
  Value bias;   // [units], or none
  Value score;  // [1, units]
};

Value additive_attention_of(Value query, Value key, Value value, Value mask,
                            const AdditiveWeights& weights);

}  // namespace thimble::ops::additive_attention_impl
