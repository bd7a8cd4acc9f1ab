// Additive attention of given parameters.
#pragma once

#include <thimble/ops/additive_attention.h>

namespace thimble::ops::additive_attention_impl {

Value additive_attention_of(Value query, Value key, Value value, Value mask,
                            const AdditiveAttentionWeights& weights);

}  // namespace thimble::ops::additive_attention_impl
