#include <thimble/ops/pad.h>
#include "ir/function_def.h"

THIMBLE_FUNCTION_FOLDER(pad) {
  static const FunctionDef pad_function{
      .name = "pad",
      .doc =
          "x with elements around it, `before` and `after` each axis: of one value, or its own "
          "mirrored, repeated or taken from the other end. Negative numbers cut off.",
      .inputs = {{"x", "any shape"}},
      .outputs = {{"y", "x with every axis longer by what is put around it"}},
      .options = ir::OptionSchema::of<PadOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {pad(in[0], options_as<PadOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&pad_function};
  return defs;
}
