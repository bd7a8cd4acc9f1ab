#include <thimble/ops/soft_margin.h>

#include "ir/function_def.h"
#include "ops/families/loss/loss.h"

THIMBLE_FUNCTION_FOLDER(soft_margin) {
  static const FunctionDef soft_margin_function{
      .name = "soft_margin",
      .doc = "Soft margin loss: reduce of log(1 + exp(-t x)).",
      .example = "auto loss = soft_margin(x, sign);",
      .inputs = {{"x", "any shape"}, {"target", "a shape that broadcasts with it: 1 or -1"}},
      .outputs = {{"loss", "one number, or the terms"}},
      .options = ir::OptionSchema::of<LossOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {soft_margin(in[0], in[1], options_as<LossOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&soft_margin_function};
  return defs;
}
