#include <thimble/error.h>

#include "ir/function_def.h"
#include "ops/multi_head_attention/build.h"

namespace thimble {

void describe(MultiHeadAttentionOptions& o, ir::OptionVisitor& v) {
  v.field("heads", o.heads, "must be set; divides the width of the query");
  v.field("kv_heads", o.kv_heads, "of keys and values, divides heads; 0: as many as heads");
  v.field("causal", o.causal, "step t sees the steps 0 to t alone");
  v.field("dropout", o.dropout, "share of the weights that become 0 in training");
  v.field("bias", o.bias, "with biases");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

namespace thimble::ops::multi_head_attention_impl {
namespace {

std::vector<Value> build(std::span<const Value> in, const void* pointer) {
  const auto& options = *static_cast<const MultiHeadAttentionOptions*>(pointer);
  const Value key = in[1] ? in[1] : in[0];
  const Value value = in[2] ? in[2] : key;
  if (!in[4] && !in[5] && !in[6] && !in[7]) {
    return {multi_head_attention(in[0], key, value, in[3], options)};
  }
  if (!in[4] || !in[6]) {
    throw Error("multi_head_attention",
                "given weights are at least in_proj_weight and out_proj_weight");
  }
  const int64_t kv_width = check_attention_layer(in[0], key, value, options);
  AttentionWeights weights;
  set_packed(weights, in[4], in[5], in[0].shape()[2], kv_width);
  weights.out = in[6];
  weights.out_bias = in[7];
  return {attend(in[0], key, value, in[3], weights, options)};
}

}  // namespace
}  // namespace thimble::ops::multi_head_attention_impl

THIMBLE_FUNCTION_FOLDER(multi_head_attention) {
  static const FunctionDef def{
      .name = "multi_head_attention",
      .doc =
          "Multi-head attention: projections to queries, keys and values, attention head by head, "
          "and a projection of what comes of it.",
      .example = "auto y = multi_head_attention(x, {.heads = 6, .causal = true});",
      .inputs =
          {{.name = "query", .doc = "[N, T, E]", .batch_rank = 3},
           {.name = "key", .doc = "[N, S, K]; none: the query", .optional = true, .batch_rank = 3},
           {.name = "value", .doc = "[N, S, W]; none: the key", .optional = true, .batch_rank = 3},
           {"mask", "[N or 1, heads or 1, T or 1, S or 1]: f32 to add, or u8 where 0 hides", true},
           {"in_proj_weight", "[E + 2 G, E], where K = W = E", true},
           {"in_proj_bias", "[E + 2 G]", true},
           {"out_proj_weight", "[E, E]", true},
           {"out_proj_bias", "[E]", true}},
      .outputs = {{.name = "y", .doc = "[N, T, E]", .batch_rank = 3}},
      .parameters = {{"in_proj_weight",
                      "[E + 2 G, E], G = kv_heads * E / heads; where K or W is not E in three: "
                      "q_proj_weight [E, E], k_proj_weight [G, K], v_proj_weight [G, W]"},
                     {"in_proj_bias", "[E + 2 G]", true},
                     {"out_proj.weight", "[E, E]"},
                     {"out_proj.bias", "[E]", true}},
      .options = ir::OptionSchema::of<MultiHeadAttentionOptions>(),
      .required = {"heads"},
      .build = build,
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
