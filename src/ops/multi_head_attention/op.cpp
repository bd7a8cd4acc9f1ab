#include <fmt/format.h>
#include <thimble/ops/add.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/broadcast_to.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/clip.h>
#include <thimble/ops/concat.h>
#include <thimble/ops/dropout.h>
#include <thimble/ops/matmul.h>
#include <thimble/ops/mean.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/multi_head_attention.h>
#include <thimble/ops/pad.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/scaled_dot_product_attention.h>
#include <thimble/ops/softmax.h>
#include <thimble/ops/split.h>
#include <thimble/ops/transpose.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ir/graph.h"
#include "ir/own_constant.h"
#include "ops/families/builder/layer.h"

// A layer over matmul and attention: it has a builder, but no op of its own.
THIMBLE_OP_FOLDER(multi_head_attention) { return {}; }

namespace thimble::ops::multi_head_attention_impl {
namespace {

// The attention weights that are returned: none, their mean over the heads, or those of each head.
enum class Report : uint8_t { none, mean, per_head };

// Added to scores: a hidden key's share is 0 beside any other; a key of a later step has none even
// beside hidden ones, nor beside keys to which a mask adds -infinity.
constexpr double kHidden = -1e30;
constexpr float kLater = -std::numeric_limits<float>::infinity();

// Weight and bias of one of the projections.
struct Projection {
  Value weight;
  Value bias;
};
struct Projections {
  Projection q, k, v;
};

// Cutting up the packed weight costs less than cutting up what it makes of every step.
Projections projections_of(const MultiHeadAttentionWeights& weights, int64_t width,
                           int64_t kv_width) {
  const SplitOptions parts{.axis = 0, .sizes = {width, kv_width, kv_width}};
  Projections all{
      {weights.q_proj_weight, {}}, {weights.k_proj_weight, {}}, {weights.v_proj_weight, {}}};
  if (weights.in_proj_weight) {
    const std::vector<Value> w = split(weights.in_proj_weight, parts);
    all.q.weight = w[0];
    all.k.weight = w[1];
    all.v.weight = w[2];
  }
  if (weights.in_proj_bias) {
    const std::vector<Value> b = split(weights.in_proj_bias, parts);
    all.q.bias = b[0];
    all.k.bias = b[1];
    all.v.bias = b[2];
  }
  return all;
}

Value project(Value x, const Projection& by) {
  return matmul(x, by.weight, by.bias, {.transpose_b = true});
}

// [N, S, G D] and what stands behind its last step: a trained row, and one of zeros.
Value with_more(Value x, Value row, bool zeros) {
  if (row) {
    const Shape like{x.shape()[0], 1, x.shape()[2]};
    x = concat({x, broadcast_to(reshape(row, {1, 1, x.shape()[2]}), like)}, {.axis = 1});
  }
  return zeros ? pad(x, {.before = {0, 0, 0}, .after = {0, 1, 0}}) : x;
}

// [N, S, G D] as [N, S, G, D]: a reshape moves nothing.
Value heads_of(Value x, int64_t head) {
  return reshape(x, {-1, x.shape()[1], x.shape()[2] / head, head});
}

// `added` is added to the scores [N, H, T, S], and `visible` is multiplied with their shares.
// Either may be none.
struct Masks {
  Value added;
  Value visible;
};

// A mask, [.., S or 1], over S keys and more behind them, which it does not hide.
Value over_keys(Value mask, int64_t keys, int64_t more, double behind) {
  if (more == 0) return mask;
  std::vector<int64_t> dims = mask.shape().dims();
  if (dims.back() != keys) {
    dims.back() = keys;
    mask = broadcast_to(mask, Shape(dims));
  }
  return pad(mask, {.before = {0, 0, 0, 0}, .after = {0, 0, 0, more}, .value = behind});
}

Value later_steps(ir::Graph& graph, int64_t queries, int64_t keys, int64_t more) {
  std::vector<float> values;
  for (int64_t t = 0; t < queries; ++t) {
    for (int64_t s = 0; s < keys + more; ++s) values.push_back(s > t && s < keys ? kLater : 0.0F);
  }
  return ir::own_constant(graph, fmt::format("@later_steps_{}_{}_{}", queries, keys, more),
                          Array(std::move(values), {1, 1, queries, keys + more}));
}

Masks masks_of(Value mask, bool causal, int64_t queries, int64_t keys, int64_t more,
               ir::Graph& graph) {
  Masks masks;
  if (mask && mask.dtype() == DType::u8) {
    const Value shown = clip(cast(mask, DType::f32), {.low = 0.0, .high = 1.0});
    masks.visible = over_keys(shown, keys, more, 1.0);
    masks.added = (masks.visible + -1.0) * -kHidden;
  } else if (mask) {
    masks.added = over_keys(mask, keys, more, 0.0);
  }
  if (causal) {
    const Value later = later_steps(graph, queries, keys, more);
    masks.added = masks.added ? masks.added + later : later;
  }
  return masks;
}

// q: [N, T, H, D]; k, v: [N, S, G, D]. y: [N, T, H, D]; weights: [N, H, T, S].
AttentionResult attend_stored(Value q, Value k, Value v, const Masks& masks, double dropped) {
  const int64_t heads = q.shape()[2];
  const auto by_head = [&](Value x) {
    if (x.shape()[2] != heads) {  // heads share keys
      const std::vector<int64_t>& d = x.shape().dims();
      x = broadcast_to(reshape(x, {-1, d[1], d[2], 1, d[3]}),
                       {d[0], d[1], d[2], heads / d[2], d[3]});
      x = reshape(x, {-1, d[1], heads, d[3]});
    }
    return transpose(x, {0, 2, 1, 3});
  };
  Value scores = matmul(by_head(q), by_head(k), {.transpose_b = true}) *
                 (1.0 / std::sqrt(static_cast<double>(q.shape()[3])));
  if (masks.added) scores = scores + masks.added;
  Value weights = softmax(scores);
  if (masks.visible) weights = weights * masks.visible;
  if (dropped > 0.0) weights = dropout(weights, {.p = dropped});
  return {transpose(matmul(weights, by_head(v)), {0, 2, 1, 3}), weights};
}

// Attention of projections that are cut into heads. mask: as the layer's. The weights are none
// where nothing of them is reported.
AttentionResult attend(Value query, Value key, Value value, Value mask,
                       const MultiHeadAttentionWeights& weights,
                       const MultiHeadAttentionOptions& options, Report report) {
  const int64_t width = query.shape()[2];
  const int64_t head = width / options.heads;
  const int64_t groups = options.kv_heads == 0 ? options.heads : options.kv_heads;
  const Projections by = projections_of(weights, width, groups * head);
  const int64_t queries = query.shape()[1];
  const int64_t keys = key.shape()[1];
  const int64_t more = (weights.bias_k ? 1 : 0) + (options.add_zero_attn ? 1 : 0);
  const Value q = heads_of(project(query, by.q), head);
  const Value k =
      heads_of(with_more(project(key, by.k), weights.bias_k, options.add_zero_attn), head);
  const Value v =
      heads_of(with_more(project(value, by.v), weights.bias_v, options.add_zero_attn), head);
  AttentionResult result;
  if (report == Report::none && more == 0) {
    result.y = scaled_dot_product_attention(q, k, v, mask,
                                            {.causal = options.causal, .dropout = options.dropout});
  } else {
    const Masks masks = masks_of(mask, options.causal, queries, keys, more, query.graph());
    if (report == Report::none) {
      result.y = scaled_dot_product_attention(q, k, v, masks.added, {.dropout = options.dropout});
    } else {
      result = attend_stored(q, k, v, masks, options.dropout);
    }
  }
  if (report == Report::mean) result.weights = mean(result.weights, {.axes = {1}});
  result.y = matmul(reshape(result.y, {-1, queries, width}), weights.out_proj_weight,
                    weights.out_proj_bias, {.transpose_b = true});
  return result;
}

// Width of all the heads of keys. Throws Error where options and shapes do not fit.
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

MultiHeadAttentionWeights parameters(const ir::LayerScope& layer, Value query, Value key,
                                     Value value, int64_t kv_width,
                                     const MultiHeadAttentionOptions& options) {
  const int64_t width = query.shape()[2];
  const auto parameter = [&](const char* name, const Shape& shape, const Initializer& rule) {
    return layer_parameter(layer, query, name, shape, rule);
  };
  MultiHeadAttentionWeights weights;
  if (key.shape()[2] == width && value.shape()[2] == width) {
    weights.in_proj_weight =
        parameter("in_proj_weight", {width + 2 * kv_width, width}, init::xavier_uniform());
  } else {
    const auto third = [&](const char* name, int64_t rows, int64_t columns) {
      return parameter(name, {rows, columns}, init::xavier_uniform());
    };
    weights.q_proj_weight = third("q_proj_weight", width, width);
    weights.k_proj_weight = third("k_proj_weight", kv_width, key.shape()[2]);
    weights.v_proj_weight = third("v_proj_weight", kv_width, value.shape()[2]);
  }
  if (options.bias) {
    weights.in_proj_bias = parameter("in_proj_bias", {width + 2 * kv_width}, init::zeros());
  }
  if (options.add_bias_kv) {
    // PyTorch's xavier_normal_ of this shape.
    const Initializer rule = init::normal(0.0, 1.0 / std::sqrt(static_cast<double>(kv_width)));
    weights.bias_k = parameter("bias_k", {1, 1, kv_width}, rule);
    weights.bias_v = parameter("bias_v", {1, 1, kv_width}, rule);
  }
  weights.out_proj_weight = parameter("out_proj.weight", {width, width}, init::torch_default());
  if (options.bias) weights.out_proj_bias = parameter("out_proj.bias", {width}, init::zeros());
  return weights;
}

AttentionResult layer_of(Value query, Value key, Value value, Value mask,
                         const MultiHeadAttentionOptions& options, Report report) {
  const int64_t kv_width = check_attention_layer(query, key, value, options);
  const ir::LayerScope layer(query.graph(), "multi_head_attention", options.name);
  return attend(query, key, value, mask, parameters(layer, query, key, value, kv_width, options),
                options, report);
}

AttentionResult layer_of(Value query, Value key, Value value, Value mask,
                         const MultiHeadAttentionWeights& weights,
                         const MultiHeadAttentionOptions& options, Report report) {
  const int64_t kv_width = check_attention_layer(query, key, value, options);
  const int64_t width = query.shape()[2];
  const auto check = [](const char* name, const Value& value, const Shape& wanted, bool optional) {
    if ((!value && optional) || (value && value.shape() == wanted)) return;
    throw Error("multi_head_attention",
                fmt::format("expected a given weight {} {}, got {}", name, to_string(wanted),
                            value ? to_string(value.shape()) : std::string("none")));
  };
  if (weights.q_proj_weight || weights.k_proj_weight || weights.v_proj_weight) {
    if (weights.in_proj_weight) {
      throw Error("multi_head_attention",
                  "in_proj_weight is given beside q_proj_weight, k_proj_weight and v_proj_weight, "
                  "which stand in its place");
    }
    check("q_proj_weight", weights.q_proj_weight, {width, width}, false);
    check("k_proj_weight", weights.k_proj_weight, {kv_width, key.shape()[2]}, false);
    check("v_proj_weight", weights.v_proj_weight, {kv_width, value.shape()[2]}, false);
  } else {
    check("in_proj_weight", weights.in_proj_weight, {width + 2 * kv_width, width}, false);
  }
  check("in_proj_bias", weights.in_proj_bias, {width + 2 * kv_width}, true);
  check("out_proj_weight", weights.out_proj_weight, {width, width}, false);
  check("out_proj_bias", weights.out_proj_bias, {width}, true);
  check("bias_k", weights.bias_k, {1, 1, kv_width}, !weights.bias_v);
  check("bias_v", weights.bias_v, {1, 1, kv_width}, !weights.bias_k);
  const ir::LayerScope layer(query.graph(), "multi_head_attention", options.name);
  return attend(query, key, value, mask, weights, options, report);
}

Report report_of(bool per_head) { return per_head ? Report::per_head : Report::mean; }

}  // namespace
}  // namespace thimble::ops::multi_head_attention_impl

namespace thimble {

using ops::multi_head_attention_impl::layer_of;
using ops::multi_head_attention_impl::Report;
using ops::multi_head_attention_impl::report_of;

Value multi_head_attention(Value query, Value key, Value value, Value mask,
                           const MultiHeadAttentionOptions& options) {
  return layer_of(query, key, value, mask, options, Report::none).y;
}

Value multi_head_attention(Value query, Value key, Value value, Value mask,
                           const MultiHeadAttentionWeights& weights,
                           const MultiHeadAttentionOptions& options) {
  return layer_of(query, key, value, mask, weights, options, Report::none).y;
}

AttentionResult multi_head_attention_with_weights(Value query, Value key, Value value, Value mask,
                                                  const MultiHeadAttentionOptions& options,
                                                  bool per_head) {
  return layer_of(query, key, value, mask, options, report_of(per_head));
}

AttentionResult multi_head_attention_with_weights(Value query, Value key, Value value, Value mask,
                                                  const MultiHeadAttentionWeights& weights,
                                                  const MultiHeadAttentionOptions& options,
                                                  bool per_head) {
  return layer_of(query, key, value, mask, weights, options, report_of(per_head));
}

Value multi_head_attention(Value x, const MultiHeadAttentionOptions& options) {
  return multi_head_attention(x, x, x, Value(), options);
}

}  // namespace thimble
