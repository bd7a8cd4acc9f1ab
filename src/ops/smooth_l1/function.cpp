#include <thimble/ops/smooth_l1.h>

#include "ir/function_def.h"

namespace thimble {

void describe(SmoothL1Options& o, ir::FieldVisitor& v) {
  v.field("beta", o.beta, "where the parabola becomes a straight line");
  v.field("reduction", o.reduction, "how the terms become one number");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(smooth_l1) {
  static const FunctionDef smooth_l1_function{
      .name = "smooth_l1",
      .doc =
          "Smooth L1 loss: reduce of d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, with d "
          "= x - t.",
      .example = "auto loss = smooth_l1(prediction, target, {.beta = 0.5});",
      .inputs = {{"prediction", "any shape"}, {"target", "the same shape"}},
      .outputs = {{"loss", "one number, or the terms"}},
      .options = ir::OptionSchema::of<SmoothL1Options>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {smooth_l1(in[0], in[1], options_as<SmoothL1Options>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&smooth_l1_function};
  return defs;
}
