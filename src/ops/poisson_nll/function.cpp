#include <thimble/ops/poisson_nll.h>

#include "ir/function_def.h"

namespace thimble {

void describe(PoissonNllOptions& o, ir::FieldVisitor& v) {
  v.field("log_input", o.log_input, "x is the logarithm of the rate");
  v.field("full", o.full, "with Stirling's term");
  v.field("epsilon", o.epsilon, "added to rates in logarithms");
  v.field("reduction", o.reduction, "how the terms become one number");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(poisson_nll) {
  static const FunctionDef poisson_nll_function{
      .name = "poisson_nll",
      .doc =
          "Negative log likelihood of counts under Poisson distributions: reduce of exp(x) - t x, "
          "or x - t log(x + epsilon) without log_input.",
      .example = "auto loss = poisson_nll(x, counts);",
      .inputs = {{"x", "any shape: the rate or its logarithm"},
                 {"target", "the same shape: counts"}},
      .outputs = {{"loss", "one number, or the terms"}},
      .options = ir::OptionSchema::of<PoissonNllOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {poisson_nll(in[0], in[1], options_as<PoissonNllOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&poisson_nll_function};
  return defs;
}
