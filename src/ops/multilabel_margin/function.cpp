#include <thimble/ops/multilabel_margin.h>

#include "ir/function_def.h"
#include "ops/families/loss/loss.h"

THIMBLE_FUNCTION_FOLDER(multilabel_margin) {
  static const FunctionDef multilabel_margin_function{
      .name = "multilabel_margin",
      .doc =
          "Multi-label margin loss: reduce over rows of the sum over labels l and other classes c "
          "of max(0, 1 - x[l] + x[c]) / C.",
      .example = "auto loss = multilabel_margin(scores, labels);",
      .inputs = {{"x", "[N, C]"}, {.name = "labels", .doc = "[N, C]", .types = DType::i32}},
      .outputs = {{"loss", "one number, or the terms"}},
      .options = ir::OptionSchema::of<LossOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {multilabel_margin(in[0], in[1], options_as<LossOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&multilabel_margin_function};
  return defs;
}
