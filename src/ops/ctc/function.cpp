#include <thimble/ops/ctc.h>

#include "ir/function_def.h"
#include "ops/ctc/attrs.h"

THIMBLE_FUNCTION_FOLDER(ctc) {
  static const FunctionDef ctc_function{
      .name = "ctc",
      .doc =
          "Connectionist temporal classification: minus the log probability, under the softmax of "
          "the logits, of all ways to write the target, blanks and repeats taken out. The mean is "
          "of "
          "each loss divided by its target's length.",
      .inputs =
          {{.name = "logits", .doc = "[N, T, classes]", .batch_rank = 3},
           {.name = "targets", .doc = "[N, S], i32: classes without the blank", .batch_rank = 2},
           {.name = "input_lengths", .doc = "[N], i32; none: T", .optional = true, .batch_rank = 1},
           {.name = "target_lengths",
            .doc = "[N], i32; none: S",
            .optional = true,
            .batch_rank = 1}},
      .outputs = {{"loss", "one number, or one a sequence"}},
      .options = ir::OptionSchema::of<CtcOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {ctc(in[0], in[1], in[2], in[3], options_as<CtcOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&ctc_function};
  return defs;
}
