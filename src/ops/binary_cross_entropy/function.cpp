#include <thimble/ops/binary_cross_entropy.h>

#include "ir/function_def.h"
#include "ops/families/loss/loss.h"

THIMBLE_FUNCTION_FOLDER(binary_cross_entropy) {
  static const FunctionDef binary_cross_entropy_function{
      .name = "binary_cross_entropy",
      .doc =
          "The cross-entropy between probabilities: reduce of -w (t max(log x, -100) + (1 - t) "
          "max(log(1 - x), -100)).",
      .example = "auto loss = binary_cross_entropy(sigmoid(x), t);",
      .inputs = {{"x", "any shape: probabilities"},
                 {"target", "the same shape: probabilities"},
                 {"weight", "a shape that broadcasts with it", true}},
      .outputs = {{"loss", "one number, or the terms"}},
      .options = ir::OptionSchema::of<LossOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {binary_cross_entropy(in[0], in[1], in[2], options_as<LossOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&binary_cross_entropy_function};
  return defs;
}
