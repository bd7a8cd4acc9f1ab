#include <thimble/ops/multilabel_soft_margin.h>

#include "ir/function_def.h"
#include "ops/families/loss/loss.h"

THIMBLE_FUNCTION_FOLDER(multilabel_soft_margin) {
  static const FunctionDef multilabel_soft_margin_function{
      .name = "multilabel_soft_margin",
      .doc =
          "Multi-label soft margin loss: reduce over rows of the mean over classes of -w (t log "
          "sigmoid(x) + (1 - t) log(1 - sigmoid(x))).",
      .example = "auto loss = multilabel_soft_margin(x, labels);",
      .inputs = {{"x", "[N, ..., C]"},
                 {"target", "the same shape: 0 or 1"},
                 {"weight", "[C]", true}},
      .outputs = {{"loss", "one number, or the terms"}},
      .options = ir::OptionSchema::of<LossOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {multilabel_soft_margin(in[0], in[1], in[2], options_as<LossOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&multilabel_soft_margin_function};
  return defs;
}
