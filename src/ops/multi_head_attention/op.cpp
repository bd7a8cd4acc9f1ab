#include <fmt/format.h>
#include <thimble/ops/matmul.h>
#include <thimble/ops/multi_head_attention.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/scaled_dot_product_attention.h>
#include <thimble/ops/split.h>

#include "ops/families/builder/layer.h"
#include "ops/multi_head_attention/build.h"

// A layer over matmul and attention: it has a builder, but no op of its own.
THIMBLE_OP_FOLDER(multi_head_attention) { return {}; }

namespace thimble::ops::multi_head_attention_impl {

int64_t check_attention_layer(Value query, Value key, Value value,
                              const MultiHeadAttentionOptions& options) {
  const auto require = [](bool fine, const std::string& message) {
    if (!fine) throw Error("multi_head_attention", message);
  };
  for (const Value& v : {query, key, value}) {
    require(
        v.shape().rank() == 3,
        fmt::format("expected query, key and value [N, T, width], got {}", to_string(v.shape())));
  }
  const int64_t width = query.shape()[2];
  require(options.heads >= 1 && width >= 1 && width % options.heads == 0,
          fmt::format("expected a number of heads that divides the width {}, got {}; set .heads",
                      width, options.heads));
  const int64_t kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
  require(
      kv_heads >= 1 && options.heads % kv_heads == 0,
      fmt::format("expected kv_heads that divide the {} heads, got {}", options.heads, kv_heads));
  return width / options.heads * kv_heads;
}

void set_packed(AttentionWeights& weights, Value in_proj_weight, Value in_proj_bias, int64_t width,
                int64_t kv_width) {
  const SplitOptions parts{.axis = 0, .sizes = {width, kv_width, kv_width}};
  if (in_proj_weight) {
    const std::vector<Value> w = split(in_proj_weight, parts);
    weights.q = w[0];
    weights.k = w[1];
    weights.v = w[2];
  }
  if (in_proj_bias) {
    const std::vector<Value> b = split(in_proj_bias, parts);
    weights.q_bias = b[0];
    weights.k_bias = b[1];
    weights.v_bias = b[2];
  }
}

Value attend(Value query, Value key, Value value, Value mask, const AttentionWeights& weights,
             const MultiHeadAttentionOptions& options) {
  const int64_t width = query.shape()[2];
  const int64_t head = width / options.heads;
  // Heads stand behind positions, as attention takes them: a reshape moves nothing.
  const auto project = [&](Value x, Value weight, Value bias) {
    const Value y = matmul(x, weight, bias, {.transpose_b = true});
    return reshape(y, {-1, x.shape()[1], y.shape()[2] / head, head});
  };
  const Value q = project(query, weights.q, weights.q_bias);
  const Value k = project(key, weights.k, weights.k_bias);
  const Value v = project(value, weights.v, weights.v_bias);
  const Value y = scaled_dot_product_attention(
      q, k, v, mask, {.causal = options.causal, .dropout = options.dropout});
  return matmul(reshape(y, {-1, query.shape()[1], width}), weights.out, weights.out_bias,
                {.transpose_b = true});
}

}  // namespace thimble::ops::multi_head_attention_impl

namespace thimble {

Value multi_head_attention(Value query, Value key, Value value, Value mask,
                           const MultiHeadAttentionOptions& options) {
  const int64_t kv_width =
      ops::multi_head_attention_impl::check_attention_layer(query, key, value, options);
  const int64_t width = query.shape()[2];
  const ir::LayerScope layer(query.graph(), "multi_head_attention", options.name);
  const auto parameter = [&](const char* name, const Shape& shape, const Initializer& rule) {
    return ops::layer_parameter(layer, query, name, shape, rule);
  };
  ops::multi_head_attention_impl::AttentionWeights weights;
  Value packed;
  if (key.shape()[2] == width && value.shape()[2] == width) {
    packed = parameter("in_proj_weight", {width + 2 * kv_width, width}, init::xavier_uniform());
  } else {
    weights.q = parameter("q_proj_weight", {width, width}, init::xavier_uniform());
    weights.k = parameter("k_proj_weight", {kv_width, key.shape()[2]}, init::xavier_uniform());
    weights.v = parameter("v_proj_weight", {kv_width, value.shape()[2]}, init::xavier_uniform());
  }
  Value bias;
  if (options.bias) bias = parameter("in_proj_bias", {width + 2 * kv_width}, init::zeros());
  ops::multi_head_attention_impl::set_packed(weights, packed, bias, width, kv_width);
  weights.out = parameter("out_proj.weight", {width, width}, init::torch_default());
  if (options.bias) weights.out_bias = parameter("out_proj.bias", {width}, init::zeros());
  return ops::multi_head_attention_impl::attend(query, key, value, mask, weights, options);
}

Value multi_head_attention(Value x, const MultiHeadAttentionOptions& options) {
  return multi_head_attention(x, x, x, Value(), options);
}

}  // namespace thimble
