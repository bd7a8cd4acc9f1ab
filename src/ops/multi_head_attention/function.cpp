#include <thimble/ops/multi_head_attention.h>

#include <algorithm>
#include <optional>

#include "ir/function_def.h"

namespace thimble {

// The options of the Python function.
struct WithWeightsOptions : MultiHeadAttentionOptions {
  bool per_head = false;
};

void describe(MultiHeadAttentionOptions& o, ir::OptionVisitor& v) {
  v.field("heads", o.heads, "must be set; divides the width of the query");
  v.field("kv_heads", o.kv_heads, "of keys and values, divides heads; 0: as many as heads");
  v.field("causal", o.causal, "step t sees the steps 0 to t alone");
  v.field("dropout", o.dropout, "share of the weights that become 0 in training");
  v.field("bias", o.bias, "with biases");
  v.field("add_bias_kv", o.add_bias_kv, "one more key and value, trained, that no mask hides");
  v.field("add_zero_attn", o.add_zero_attn, "one more key and value of zeros, likewise");
  v.field("name", o.name, "of the layer; empty: numbered");
}

void describe(WithWeightsOptions& o, ir::OptionVisitor& v) {
  describe(static_cast<MultiHeadAttentionOptions&>(o), v);
  v.field("per_head", o.per_head, "weights of each head, [N, heads, T, S], not their mean");
}

}  // namespace thimble

namespace thimble::ops::multi_head_attention_impl {
namespace {

// Where the inputs stand.
enum Input : uint8_t { kQuery, kKey, kValue, kMask, kFirstWeight };

std::vector<ir::ArgDoc> inputs() {
  return {{.name = "query", .doc = "[N, T, E]", .batch_rank = 3},
          {.name = "key", .doc = "[N, S, K]; none: the query", .optional = true, .batch_rank = 3},
          {.name = "value", .doc = "[N, S, W]; none: the key", .optional = true, .batch_rank = 3},
          {.name = "mask",
           .doc = "[N or 1, heads or 1, T or 1, S or 1]: f32 to add, or u8 where 0 hides",
           .optional = true,
           .types = ir::kFloatingTypes | DType::u8},
          {"in_proj_weight", "[E + 2 G, E], where K = W = E", true},
          {"in_proj_bias", "[E + 2 G]", true},
          {"out_proj_weight", "[E, E]", true},
          {"out_proj_bias", "[E]", true},
          {"q_proj_weight", "[E, E], in the place of in_proj_weight with the next two", true},
          {"k_proj_weight", "[G, K]", true},
          {"v_proj_weight", "[G, W]", true},
          {"bias_k", "[1, 1, G]", true},
          {"bias_v", "[1, 1, G]", true}};
}

std::vector<ir::ArgDoc> parameters() {
  return {{"in_proj_weight",
           "[E + 2 G, E], G = kv_heads * E / heads; where K or W is not E the next-named three"},
          {"in_proj_bias", "[E + 2 G]", true},
          {"out_proj.weight", "[E, E]"},
          {"out_proj.bias", "[E]", true},
          {"q_proj_weight", "[E, E], where K or W is not E", true},
          {"k_proj_weight", "[G, K], likewise", true},
          {"v_proj_weight", "[G, W], likewise", true},
          {"bias_k", "[1, 1, G], with add_bias_kv", true},
          {"bias_v", "[1, 1, G], with add_bias_kv", true}};
}

// The weights that were given, if any.
std::optional<MultiHeadAttentionWeights> given(std::span<const Value> in) {
  const auto weights = in.subspan(kFirstWeight);
  if (std::none_of(weights.begin(), weights.end(), [](const Value& w) { return bool(w); })) {
    return {};
  }
  return MultiHeadAttentionWeights{.in_proj_weight = weights[0],
                                   .q_proj_weight = weights[4],
                                   .k_proj_weight = weights[5],
                                   .v_proj_weight = weights[6],
                                   .in_proj_bias = weights[1],
                                   .out_proj_weight = weights[2],
                                   .out_proj_bias = weights[3],
                                   .bias_k = weights[7],
                                   .bias_v = weights[8]};
}

std::vector<Value> build(std::span<const Value> in, const void* pointer) {
  const auto& options = options_as<MultiHeadAttentionOptions>(pointer);
  const Value key = in[kKey] ? in[kKey] : in[kQuery];
  const Value value = in[kValue] ? in[kValue] : key;
  const auto weights = given(in);
  if (!weights) return {multi_head_attention(in[kQuery], key, value, in[kMask], options)};
  return {multi_head_attention(in[kQuery], key, value, in[kMask], *weights, options)};
}

std::vector<Value> build_with_weights(std::span<const Value> in, const void* pointer) {
  const auto& options = options_as<WithWeightsOptions>(pointer);
  const Value key = in[kKey] ? in[kKey] : in[kQuery];
  const Value value = in[kValue] ? in[kValue] : key;
  const auto weights = given(in);
  const AttentionResult result =
      weights ? multi_head_attention_with_weights(in[kQuery], key, value, in[kMask], *weights,
                                                  options, options.per_head)
              : multi_head_attention_with_weights(in[kQuery], key, value, in[kMask], options,
                                                  options.per_head);
  return {result.y, result.weights};
}

}  // namespace
}  // namespace thimble::ops::multi_head_attention_impl

THIMBLE_FUNCTION_FOLDER(multi_head_attention) {
  static const FunctionDef plain{
      .name = "multi_head_attention",
      .doc =
          "Multi-head attention: projections to queries, keys and values, attention head by head, "
          "and a projection of what comes of it.",
      .example = "auto y = multi_head_attention(x, {.heads = 6, .causal = true});",
      .inputs = inputs(),
      .outputs = {{.name = "y", .doc = "[N, T, E]", .batch_rank = 3}},
      .parameters = parameters(),
      .options = ir::OptionSchema::of<MultiHeadAttentionOptions>(),
      .required = {"heads"},
      .of_parameters = {"add_bias_kv"},
      .build = build,
  };
  static const FunctionDef with_weights{
      .name = "multi_head_attention_with_weights",
      .doc =
          "multi_head_attention that also returns the attention weights after dropout, in the "
          "memory that multi_head_attention saves.",
      .example =
          "auto [y, weights] = multi_head_attention_with_weights(x, x, x, mask, {.heads = 6});",
      .inputs = inputs(),
      .outputs = {{.name = "y", .doc = "[N, T, E]", .batch_rank = 3},
                  {.name = "weights",
                   .doc = "[N, T, S]: the mean over the heads; per_head: [N, heads, T, S]",
                   .batch_rank = 3}},
      .parameters = parameters(),
      .options = ir::OptionSchema::of<WithWeightsOptions>(),
      .required = {"heads"},
      .of_parameters = {"add_bias_kv"},
      .build = build_with_weights,
  };
  static const FunctionDef* const defs[] = {&plain, &with_weights};
  return defs;
}
