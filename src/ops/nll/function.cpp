#include <thimble/ops/nll.h>

#include "ir/function_def.h"

namespace thimble {

void describe(NllOptions& o, ir::FieldVisitor& v) {
  v.field("reduction", o.reduction, "how the rows become one number");
  v.field("ignore_index", o.ignore_index, "class index of rows that count nothing");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(nll) {
  static const FunctionDef nll_function{
      .name = "nll",
      .doc =
          "Negative log likelihood: reduce over rows of -weight[label] x[label], x the logarithms "
          "of the probabilities.",
      .example = "auto loss = nll(log_softmax(x), label);",
      .inputs = {{"x", "[N, ..., classes]: logarithms of probabilities"},
                 {.name = "labels", .doc = "[N, ...]", .types = DType::i32},
                 {"weight", "[classes]", true}},
      .outputs = {{"loss", "one number, or one a row"}},
      .options = ir::OptionSchema::of<NllOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {nll(in[0], in[1], in[2], options_as<NllOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&nll_function};
  return defs;
}
