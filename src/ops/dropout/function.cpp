#include <thimble/ops/dropout.h>

#include "ir/function_def.h"

namespace thimble {

void describe(DropoutOptions& o, ir::OptionVisitor& v) {
  v.field("p", o.p, "share of elements that become 0");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(dropout) {
  static const FunctionDef dropout_function{
      .name = "dropout",
      .doc =
          "In training each element becomes 0 with probability p and the others are divided by 1 - "
          "p; at "
          "inference y = x. The mask depends on the seed, the step and the place in the graph "
          "alone.",
      .example = "auto y = dropout(x, {.p = 0.2});",
      .inputs = {{"x", "any shape"}},
      .outputs = {{"y", "the shape of x"}},
      .options = ir::OptionSchema::of<DropoutOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {dropout(in[0], options_as<DropoutOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&dropout_function};
  return defs;
}
