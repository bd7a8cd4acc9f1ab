#include <thimble/ops/binary_cross_entropy_with_logits.h>

#include "ir/function_def.h"
#include "ops/binary_cross_entropy_with_logits/attrs.h"

THIMBLE_FUNCTION_FOLDER(binary_cross_entropy_with_logits) {
  static const FunctionDef binary_cross_entropy_with_logits_function{
      .name = "binary_cross_entropy_with_logits",
      .doc =
          "Cross-entropy between probabilities t and sigmoid(x): reduce of -weight (pos_weight t "
          "log sigmoid(x) + (1 - t) log(1 - sigmoid(x))).",
      .inputs = {{"logits", "any shape"},
                 {"targets", "the same shape, in [0, 1]"},
                 {"weight", "a shape that broadcasts: what each term counts", true},
                 {"pos_weight", "a shape that broadcasts: what t log sigmoid(x) counts", true}},
      .outputs = {{"loss", "one number, or the terms"}},
      .options = ir::OptionSchema::of<LossOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {binary_cross_entropy_with_logits(in[0], in[1], in[2], in[3],
                                                 options_as<LossOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&binary_cross_entropy_with_logits_function};
  return defs;
}
