#include <thimble/ops/multi_margin.h>

#include "ir/function_def.h"

namespace thimble {

void describe(MultiMarginOptions& o, ir::FieldVisitor& v) {
  v.field("p", o.p, "exponent: 1 or 2");
  v.field("margin", o.margin, "by which the label must lead");
  v.field("reduction", o.reduction, "how the terms become one number");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(multi_margin) {
  static const FunctionDef multi_margin_function{
      .name = "multi_margin",
      .doc =
          "Multi-class margin loss: reduce over rows of the sum over other classes of w max(0, "
          "margin - x[label] + x[c])^p / C.",
      .example = "auto loss = multi_margin(scores, label);",
      .inputs = {{"x", "[N, C]"},
                 {.name = "labels", .doc = "[N]", .types = DType::i32},
                 {"weight", "[C]", true}},
      .outputs = {{"loss", "one number, or the terms"}},
      .options = ir::OptionSchema::of<MultiMarginOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {multi_margin(in[0], in[1], in[2], options_as<MultiMarginOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&multi_margin_function};
  return defs;
}
