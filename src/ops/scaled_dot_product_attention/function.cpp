#include <thimble/ops/scaled_dot_product_attention.h>

#include "ir/function_def.h"

namespace thimble {

void describe(AttentionOptions& o, ir::OptionVisitor& v) {
  v.field("causal", o.causal, "query t sees the keys 0 to t alone");
  v.field("scale", o.scale, "of the products; 0: 1 / sqrt(D)");
  v.field("dropout", o.dropout, "share of the weights that become 0 in training");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(scaled_dot_product_attention) {
  static const FunctionDef def{
      .name = "scaled_dot_product_attention",
      .doc =
          "Attention: y = softmax over the keys of (q . k * scale + mask), times v, head by head. "
          "The weights are never stored.",
      .example = "auto y = scaled_dot_product_attention(q, k, v, {.causal = true});",
      .inputs = {{.name = "q", .doc = "[N, T, H, D]", .batch_rank = 4},
                 {.name = "k", .doc = "[N, S, G, D], G divides H", .batch_rank = 4},
                 {.name = "v", .doc = "[N, S, G, E]", .batch_rank = 4},
                 {"mask", "[N or 1, H or 1, T or 1, S or 1]: f32 to add, or u8 where 0 hides",
                  true}},
      .outputs = {{.name = "y", .doc = "[N, T, H, E]", .batch_rank = 4}},
      .options = ir::OptionSchema::of<AttentionOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {scaled_dot_product_attention(in[0], in[1], in[2], in[3],
                                             options_as<AttentionOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
