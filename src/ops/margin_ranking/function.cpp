#include <thimble/ops/margin_ranking.h>

#include "ir/function_def.h"

namespace thimble {

void describe(MarginRankingOptions& o, ir::FieldVisitor& v) {
  v.field("margin", o.margin, "by which they must differ");
  v.field("reduction", o.reduction, "how the terms become one number");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(margin_ranking) {
  static const FunctionDef margin_ranking_function{
      .name = "margin_ranking",
      .doc = "Margin ranking loss: reduce of max(0, -t (a - b) + margin).",
      .example = "auto loss = margin_ranking(a, b, order);",
      .inputs = {{"a", "any shape"},
                 {"b", "a shape that broadcasts with that of a"},
                 {"target", "a shape that broadcasts with them: 1 or -1"}},
      .outputs = {{"loss", "one number, or the terms"}},
      .options = ir::OptionSchema::of<MarginRankingOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {margin_ranking(in[0], in[1], in[2], options_as<MarginRankingOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&margin_ranking_function};
  return defs;
}
