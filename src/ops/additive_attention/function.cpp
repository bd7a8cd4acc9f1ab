#include <thimble/error.h>

#include "ir/function_def.h"
#include "ops/additive_attention/build.h"

namespace thimble {

void describe(AdditiveAttentionOptions& o, ir::OptionVisitor& v) {
  v.field("units", o.units, "width of the hidden layer; must be set");
  v.field("bias", o.bias, "of the hidden layer");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(additive_attention) {
  static const FunctionDef def{
      .name = "additive_attention",
      .doc =
          "Additive attention: the values in shares that a small network of query and key gives.",
      .example = "auto y = additive_attention(query, key, value, {.units = 32});",
      .inputs = {{.name = "query", .doc = "[N, T, Q]", .batch_rank = 3},
                 {.name = "key", .doc = "[N, S, K]", .batch_rank = 3},
                 {.name = "value", .doc = "[N, S, E]", .batch_rank = 3},
                 {.name = "mask",
                  .doc = "[N or 1, T or 1, S or 1], where 0 hides a key",
                  .optional = true,
                  .types = DType::u8},
                 {"query_weight", "[units, Q]", true},
                 {"key_weight", "[units, K]", true},
                 {"bias", "[units]", true},
                 {"score_weight", "[1, units]", true}},
      .outputs = {{.name = "y", .doc = "[N, T, E]", .batch_rank = 3}},
      .parameters = {{"query_weight", "[units, Q]"},
                     {"key_weight", "[units, K]"},
                     {"bias", "[units]", true},
                     {"score_weight", "[1, units]"}},
      .options = ir::OptionSchema::of<AdditiveAttentionOptions>(),
      .required = {"units"},
      .of_parameters = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        if (!in[4] && !in[5] && !in[6] && !in[7]) {
          return {additive_attention(in[0], in[1], in[2], in[3],
                                     options_as<AdditiveAttentionOptions>(options))};
        }
        if (!in[4] || !in[5] || !in[7]) {
          throw Error("additive_attention",
                      "given weights are at least query_weight, key_weight and score_weight");
        }
        return {ops::additive_attention_impl::additive_attention_of(in[0], in[1], in[2], in[3],
                                                                    {in[4], in[5], in[6], in[7]})};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
