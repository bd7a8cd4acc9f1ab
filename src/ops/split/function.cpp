#include <thimble/ops/split.h>

#include "ir/function_def.h"

THIMBLE_FUNCTION_FOLDER(split) {
  static const FunctionDef split_function{
      .name = "split",
      .doc = "The parts of x along an axis: the opposite of concat.",
      .inputs = {{"x", "any shape"}},
      .outputs = {{"parts", "of the given sizes along the axis"}},
      .many_outputs = true,
      .options = ir::OptionSchema::of<SplitOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return split(in[0], options_as<SplitOptions>(options));
      },
  };
  static const FunctionDef* const defs[] = {&split_function};
  return defs;
}
