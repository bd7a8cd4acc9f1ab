#include <thimble/ops/gaussian_nll.h>

#include "ir/function_def.h"

namespace thimble {

void describe(GaussianNllOptions& o, ir::FieldVisitor& v) {
  v.field("full", o.full, "with the constant term");
  v.field("epsilon", o.epsilon, "the least variance");
  v.field("reduction", o.reduction, "how the terms become one number");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(gaussian_nll) {
  static const FunctionDef gaussian_nll_function{
      .name = "gaussian_nll",
      .doc =
          "Negative log likelihood of normal distributions: reduce of (log v + (x - t)^2 / v) / 2 "
          "with v = max(variance, epsilon).",
      .example = "auto loss = gaussian_nll(mean, target, variance);",
      .inputs = {{"mean", "any shape"},
                 {"target", "a shape that broadcasts with it"},
                 {"variance", "a shape that broadcasts with them"}},
      .outputs = {{"loss", "one number, or the terms"}},
      .options = ir::OptionSchema::of<GaussianNllOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {gaussian_nll(in[0], in[1], in[2], options_as<GaussianNllOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&gaussian_nll_function};
  return defs;
}
