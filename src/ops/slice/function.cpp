#include <thimble/ops/slice.h>
#include "ir/function_def.h"

THIMBLE_FUNCTION_FOLDER(slice) {
  static const FunctionDef slice_function{
      .name = "slice",
      .doc =
          "A part of some axes: the elements at start, start + step, ... before stop, with starts "
          "and stops as in NumPy; where a step is negative the axis is walked backwards.",
      .inputs = {{"x", "any shape"}},
      .outputs = {{"y", "x with the axes cut"}},
      .options = ir::OptionSchema::of<SliceOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {slice(in[0], options_as<SliceOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&slice_function};
  return defs;
}
