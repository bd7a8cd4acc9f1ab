#include <fmt/format.h>
#include <thimble/ops/add.h>
#include <thimble/ops/additive_attention.h>
#include <thimble/ops/matmul.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/softmax.h>
#include <thimble/ops/tanh.h>
#include <thimble/ops/where.h>

#include "ir/own_constant.h"
#include "ops/additive_attention/build.h"
#include "ops/families/builder/layer.h"

// A layer over other ops: it has a builder, but no op of its own.
THIMBLE_OP_FOLDER(additive_attention) { return {}; }

namespace thimble::ops::additive_attention_impl {
namespace {

// The score of a hidden key. It is so low that its weight is 0 beside any other key.
Value hidden_score(ir::Graph& graph) {
  return ir::own_constant(graph, "@hidden_score", Array(std::vector{-1e30F}, {}));
}

void check(Value query, Value key, Value value) {
  for (const Value& v : {query, key, value}) {
    if (v.shape().rank() == 3) continue;
    throw Error(
        "additive_attention",
        fmt::format("expected query, key and value [N, T, width], got {}", to_string(v.shape())));
  }
  if (key.shape()[1] == value.shape()[1]) return;
  throw Error("additive_attention", fmt::format("expected as many keys as values, got {} and {}",
                                                to_string(key.shape()), to_string(value.shape())));
}

}  // namespace

Value additive_attention_of(Value query, Value key, Value value, Value mask,
                            const AdditiveAttentionWeights& weights) {
  check(query, key, value);
  const int64_t queries = query.shape()[1];
  const int64_t keys = key.shape()[1];
  const int64_t units = weights.query.shape()[0];
  const Value q = matmul(query, weights.query, weights.bias, {.transpose_b = true});
  const Value k = matmul(key, weights.key, {.transpose_b = true});
  const Value hidden =
      tanh(add(reshape(q, {-1, queries, 1, units}), reshape(k, {-1, 1, keys, units})));
  Value scores = reshape(matmul(hidden, weights.score, {.transpose_b = true}), {-1, queries, keys});
  if (mask) scores = where(mask, scores, hidden_score(query.graph()));
  return matmul(softmax(scores), value);
}

}  // namespace thimble::ops::additive_attention_impl

namespace thimble {

Value additive_attention(Value query, Value key, Value value, Value mask,
                         const AdditiveAttentionOptions& options) {
  ops::additive_attention_impl::check(query, key, value);
  if (options.units < 1) {
    throw Error("additive_attention",
                fmt::format("expected units of at least 1, got {}; set .units", options.units));
  }
  const ir::LayerScope layer(query.graph(), "additive_attention", options.name);
  const auto weight = [&](const char* name, int64_t rows, int64_t columns) {
    return ops::layer_parameter(layer, query, name, {rows, columns}, init::torch_default());
  };
  AdditiveAttentionWeights weights;
  weights.query = weight("query_weight", options.units, query.shape()[2]);
  weights.key = weight("key_weight", options.units, key.shape()[2]);
  if (options.bias) {
    weights.bias = ops::layer_parameter(layer, query, "bias", {options.units},
                                        ops::bias_rule({}, query.shape()[2]));
  }
  weights.score = weight("score_weight", 1, options.units);
  return ops::additive_attention_impl::additive_attention_of(query, key, value, mask, weights);
}

Value additive_attention(Value query, Value key, Value value,
                         const AdditiveAttentionOptions& options) {
  return additive_attention(query, key, value, Value(), options);
}

Value additive_attention(Value query, Value key, Value value, Value mask,
                         const AdditiveAttentionWeights& weights, const std::string& name) {
  const auto is_matrix = [](const Value& w) { return w && w.shape().rank() == 2; };
  if (!is_matrix(weights.query) || !is_matrix(weights.key) || !is_matrix(weights.score)) {
    throw Error("additive_attention",
                "given weights are query [units, Q], key [units, K] and score [1, units]");
  }
  const ir::LayerScope layer(query.graph(), "additive_attention", name);
  return ops::additive_attention_impl::additive_attention_of(query, key, value, mask, weights);
}

}  // namespace thimble
