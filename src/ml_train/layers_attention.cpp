// Attention and positions.
#include <layer.h>
#include <thimble/ops/add.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/compare.h>
#include <thimble/ops/concat.h>
#include <thimble/ops/dense.h>
#include <thimble/ops/div.h>
#include <thimble/ops/dropout.h>
#include <thimble/ops/exp.h>
#include <thimble/ops/matmul.h>
#include <thimble/ops/mean.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/positional_encoding.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/rotary_embedding.h>
#include <thimble/ops/scaled_dot_product_attention.h>
#include <thimble/ops/sigmoid.h>
#include <thimble/ops/softmax.h>
#include <thimble/ops/split.h>
#include <thimble/ops/sub.h>
#include <thimble/ops/sum.h>
#include <thimble/ops/tanh.h>
#include <thimble/ops/transpose.h>

#include <cmath>

#include "ml_train/build.h"

namespace thimble::ml_train {
namespace {

using namespace ml::train;

constexpr const char* kSeesLater =
    "rows attend to later ones, which incremental_inference does not know yet; set causal_mask";

constexpr Property kAttention[] = {
    {"scaled_dot_product", Kind::boolean, "false"},
    {"causal_mask", Kind::boolean, "false"},
};

// Inputs are the query, the value, and the key, which is the value where it is left out.
void build_attention(LayerBuild& b) {
  b.require_inputs(2, 3);
  const Dim q = b.dim(0);
  const Dim v = b.dim(1);
  const int key = b.inputs() == 3 ? 2 : 1;
  b.require(b.dim(key).w == q.w && b.dim(key).h == v.h && b.dim(key).c == q.c && v.c == q.c,
            "expected query c:t:d, value c:s:e and key c:s:d, got " + to_string(q) + ", " +
                to_string(v) + " and " + to_string(b.dim(key)));
  // Channels are what heads are to the op, behind positions.
  const auto turned = [&](Value x, const Dim& dim) {
    return dim.c == 1 ? reshape(x, {-1, dim.h, 1, dim.w}) : transpose(x, {0, 2, 1, 3});
  };
  const bool causal = b.props.boolean("causal_mask");
  Value keys = turned(b.plain(key), b.dim(key));
  Value values = turned(b.plain(1), v);
  if (b.is_incremental()) {
    b.require(causal, kSeesLater);
    keys = b.behind_earlier(keys, "keys");
    values = b.behind_earlier(values, "values");
  }
  const Value mixed =
      scaled_dot_product_attention(turned(b.plain(0), q), keys, values, b.rows_seen(),
                                   {.causal = causal && !b.rows_seen(),
                                    .scale = b.props.boolean("scaled_dot_product") ? 0.0 : 1.0});
  const Value y = q.c == 1 ? reshape(mixed, {-1, 1, q.h, v.w}) : transpose(mixed, {0, 2, 1, 3});
  b.put_plain(y, {q.c, q.h, v.w});
}

constexpr Property kMultiHead[] = {
    {"num_heads", Kind::positive, "1"},
    {"projected_key_dim", Kind::positive},
    {"projected_value_dim", Kind::positive},
    {"output_shape", Kind::positive},
    {"dropout_rate", Kind::real, "0"},
    {"return_attention_weight", Kind::choice, "none", "none before after"},
    {"average_attention_weight", Kind::boolean, "true"},
    {"causal_mask", Kind::boolean, "false"},
    {"rotary_base", Kind::real, "0"},
};

// Queries or keys, [N, t, heads, width], turned by their positions.
Value rotated(LayerBuild& b, Value x, const char* what) {
  const double base = b.props.real("rotary_base");
  if (base == 0.0) return x;
  const int64_t width = x.shape()[3];
  b.require(base > 1.0, "rotary_base is 0, for no rotary positions, or above 1");
  b.require(width % 2 == 0, "rotary positions need an even projected_key_dim");
  if (!b.rows_seen()) return rotary_embedding(x, {.base = base});
  // The cosines and sines of every position are the rotated unit vectors.
  const int64_t steps = b.shared().rows->before;
  std::vector<float> unit(static_cast<size_t>(steps * width), 0.0F);
  for (size_t i = 0; i < unit.size(); ++i)
    unit[i] = static_cast<int64_t>(i) % width < width / 2 ? 1.0F : 0.0F;
  const Value units =
      b.graph().constant(b.name() + ":units of " + what, {1, steps, 1, width}, unit);
  const Value table = reshape(rotary_embedding(units, {.base = base}), {steps, width});
  const Value turns = reshape(b.at_positions(table), {-1, x.shape()[1], 1, width});
  const std::vector<Value> turn = split(turns, 2);
  const std::vector<Value> half = split(x, 2);
  return concat({sub(mul(half[0], turn[0]), mul(half[1], turn[1])),
                 add(mul(half[1], turn[0]), mul(half[0], turn[1]))});
}

// y = x W + b of the rows of an input [N, 1, t, w]; [N, t, columns].
Value projected(LayerBuild& b, Value rows, int64_t width, int64_t columns,
                const std::string& name) {
  const Value weight = b.weight({.name = name + "_weight",
                                 .dims = {1, 1, width, columns},
                                 .shape = {columns, width},
                                 .order = {0, 1, 3, 2}});
  Value bias;
  if (!b.props.boolean("disable_bias")) {
    bias = b.weight({.name = name + "_bias",
                     .dims = {1, 1, 1, columns},
                     .shape = {columns},
                     .decay = "bias_decay",
                     .regularizer = nullptr});
  }
  return dense(rows, weight, bias);
}

// What is added to the scores [.., t, t], so that no query sees later keys.
Value later_hidden(LayerBuild& b, int64_t steps) {
  constexpr float kHidden = -1e30F;
  b.require(Dim{1, steps, steps}.elements() <= kMostElements, "has too many scores");
  std::vector<float> values(static_cast<size_t>(steps * steps), 0.0F);
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t s = t + 1; s < steps; ++s) values[static_cast<size_t>(t * steps + s)] = kHidden;
  return b.graph().constant(b.name() + ":later", {1, 1, steps, steps}, values);
}

void build_multi_head_attention(LayerBuild& b) {
  b.require_inputs(3, 4);
  const Dim q = b.dim(0);
  const Dim k = b.dim(1);
  const Dim v = b.dim(2);
  b.require(q.c == 1 && k.c == 1 && v.c == 1 && k.h == v.h,
            "expected query 1:t:q, key 1:s:k and value 1:s:v, got " + to_string(q) + ", " +
                to_string(k) + " and " + to_string(v));
  const int64_t heads = b.props.count("num_heads");
  b.require(b.props.has("projected_key_dim") || q.w % heads == 0,
            "num_heads does not divide the width of the query; set projected_key_dim");
  const int64_t key_dim =
      b.props.has("projected_key_dim") ? b.props.count("projected_key_dim") : q.w / heads;
  const int64_t value_dim =
      b.props.has("projected_value_dim") ? b.props.count("projected_value_dim") : key_dim;
  const int64_t width = b.props.has("output_shape") ? b.props.count("output_shape") : q.w;
  const double p = b.props.real("dropout_rate");
  b.require(p >= 0.0 && p < 1.0, "dropout_rate is from 0 to below 1");
  // [N, time, heads, dim]
  const auto by_heads = [&](int i, int64_t dim, const char* name) {
    const Dim in = b.dim(i);
    const Value y = projected(b, reshape(b.plain(i), {-1, in.h, in.w}), in.w, heads * dim, name);
    return reshape(y, {-1, in.h, heads, dim});
  };
  const Value query = rotated(b, by_heads(0, key_dim, "query_fc"), "queries");
  Value key = rotated(b, by_heads(1, key_dim, "key_fc"), "keys");
  Value value = by_heads(2, value_dim, "value_fc");
  const bool causal = b.props.boolean("causal_mask");
  b.require(!causal || q.h == k.h, "causal_mask needs as many keys as queries");
  Value mask = b.rows_seen();
  if (b.is_incremental()) {
    b.require(causal, kSeesLater);
    b.require(b.inputs() == 3 && b.props.choice("return_attention_weight") == "none",
              "incremental_inference has no masks, and returns no attention weights");
    key = b.behind_earlier(key, "keys");
    value = b.behind_earlier(value, "values");
  } else if (b.inputs() == 4) {
    b.require(b.dim(3) == Dim{heads, q.h, k.h},
              "expected a mask of the shape heads:t:s, got " + to_string(b.dim(3)));
    mask = b.plain(3);
  }
  const std::string returned = b.props.choice("return_attention_weight");
  Value mixed;
  Value weights;
  if (returned == "none") {
    mixed = scaled_dot_product_attention(query, key, value, mask,
                                         {.causal = causal && !b.rows_seen(), .dropout = p});
  } else {
    const double scale = 1.0 / std::sqrt(static_cast<double>(key_dim));
    const auto turned = [](Value x) { return transpose(x, {0, 2, 1, 3}); };
    Value scores =
        affine(matmul(turned(query), turned(key), {.transpose_b = true}), {.scale = scale});
    if (mask) scores = add(scores, mask);
    if (causal) scores = add(scores, later_hidden(b, q.h));
    const Value before = softmax(scores);
    const Value after = p > 0.0 ? dropout(before, {.p = p}) : before;
    weights = returned == "before" ? before : after;
    mixed = turned(matmul(after, turned(value)));
  }
  const Value joined = reshape(mixed, {-1, q.h, heads * value_dim});
  const Value y = projected(b, joined, heads * value_dim, width, "fc");
  b.put_plain(reshape(y, {-1, 1, q.h, width}), {1, q.h, width});
  if (!weights) return;
  if (b.props.boolean("average_attention_weight")) {
    b.put_plain(mean(weights, {.axes = {1}, .keepdims = true}), {1, q.h, k.h});
  } else {
    b.put_plain(weights, {heads, q.h, k.h});
  }
}

constexpr Property kMol[] = {
    {"unit", Kind::positive, nullptr, "", 0, true},
    {"mol_k", Kind::positive, nullptr, "", 0, true},
};

// Attention by a mixture of k logistic distributions over positions, whose means only move on: the
// scale, the spread and the step of each follow from the query. The state is the means.
// Source: Vasquez and Lewis, "MelNet", 2019; Battenberg et al., "Location-relative attention
// mechanisms", 2020.
void build_mol_attention(LayerBuild& b) {
  b.require_inputs(3, 4);
  const Dim q = b.dim(0);
  const Dim v = b.dim(1);
  const int64_t k = b.props.count("mol_k");
  const int64_t units = b.props.count("unit");
  b.require(q.c == 1 && q.h == 1 && v.c == 1 && b.dim(2) == Dim{1, 1, k},
            "expected query 1:1:q, value 1:t:v and state 1:1:mol_k, got " + to_string(q) + ", " +
                to_string(v) + " and " + to_string(b.dim(2)));
  b.require(b.inputs() == 3 || b.dim(3) == Dim{}, "expected a length of the shape 1:1:1");
  const Value weight = b.weight(
      {.name = "fc_w", .dims = {1, 1, q.w, units}, .shape = {units, q.w}, .order = {0, 1, 3, 2}});
  Value bias;
  if (!b.props.boolean("disable_bias")) {
    bias = b.weight({.name = "fc_bias",
                     .dims = {1, 1, 1, units},
                     .shape = {units},
                     .initializer = "bias_initializer",
                     .decay = "bias_decay",
                     .regularizer = nullptr});
  }
  const Value projection = b.weight({.name = "fc_proj_w",
                                     .dims = {1, 1, units, 3 * k},
                                     .shape = {3 * k, units},
                                     .order = {0, 1, 3, 2}});
  const Value hidden = tanh(dense(reshape(b.plain(0), {-1, q.w}), weight, bias));
  const std::vector<Value> parts = split(dense(hidden, projection, Value()), 3);
  const Value means = add(reshape(b.plain(2), {-1, k}), exp(parts[0]));
  const auto for_positions = [&](Value x) { return reshape(x, {-1, 1, k}); };
  const Value spread = for_positions(affine(exp(parts[1]), {.shift = 1e-8}));
  const Value share = for_positions(softmax(parts[2]));
  // The part of each distribution from half a position before to half a position behind.
  std::vector<float> steps;
  for (int64_t t = 1; t <= v.h; ++t) steps.push_back(static_cast<float>(t));
  const Value positions = b.graph().constant(b.name() + ":positions", {1, v.h, 1}, steps);
  const auto up_to = [&](double shift) {
    const Value edge = affine(positions, {.shift = shift});
    return sigmoid(div(sub(edge, for_positions(means)), spread));
  };
  const Value part = sub(up_to(0.5), up_to(-0.5));
  Value scores = sum(mul(part, share), {.axes = {2}, .keepdims = true});
  if (b.inputs() == 4) {
    const Value length = cast(cast(reshape(b.plain(3), {-1, 1, 1}), DType::i32), DType::f32);
    scores = mul(scores, cast(le(positions, length), DType::f32));
  }
  const Value mixed = matmul(scores, reshape(b.plain(1), {-1, v.h, v.w}), {.transpose_a = true});
  b.put_plain(reshape(mixed, {-1, 1, 1, v.w}), {1, 1, v.w});
  if (b.output_count() == 2) b.put_plain(reshape(means, {-1, 1, 1, k}), {1, 1, k});
}

constexpr Property kPositions[] = {{"max_timestep", Kind::positive, nullptr, "", 0, true}};

void build_positional_encoding(LayerBuild& b) {
  b.require_inputs(1, 1);
  const Dim in = b.dim();
  b.require(in.h <= b.props.count("max_timestep"),
            "the input has " + std::to_string(in.h) + " rows, more than max_timestep");
  if (!b.rows_seen()) {
    const Value y = positional_encoding(reshape(b.plain(), {-1, in.h, in.w}));
    b.put_plain(reshape(y, {-1, in.c, in.h, in.w}), in);
    return;
  }
  const int64_t steps = b.shared().rows->before;
  const std::vector<float> zeros(static_cast<size_t>(steps * in.w), 0.0F);
  const Value table =
      positional_encoding(b.graph().constant(b.name() + ":zeros", {1, steps, in.w}, zeros));
  const Value here = b.at_positions(reshape(table, {steps, in.w}));
  b.put_plain(add(b.plain(), reshape(here, {-1, 1, in.h, in.w})), in);
}

}  // namespace

void add_attention_layers(std::vector<LayerKind>& kinds) {
  kinds.insert(kinds.end(), {{"attention", LAYER_ATTENTION, {kAttention}, build_attention},
                             {"multi_head_attention",
                              LAYER_MULTI_HEAD_ATTENTION,
                              {kMultiHead, weight_properties()},
                              build_multi_head_attention},
                             {"positional_encoding",
                              LAYER_POSITIONAL_ENCODING,
                              {kPositions},
                              build_positional_encoding}});
  kinds.push_back(
      {"mol_attention", LAYER_MOL_ATTENTION, {kMol, weight_properties()}, build_mol_attention});
}

}  // namespace thimble::ml_train
