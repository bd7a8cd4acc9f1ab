#include <thimble/ops/normalize.h>

#include "ir/function_def.h"
#include "ops/normalize/attrs.h"

THIMBLE_FUNCTION_FOLDER(normalize) {
  static const FunctionDef normalize_function{
      .name = "normalize",
      .doc = "Vectors of length 1: y = x / max(||x||_p, epsilon) with norms along an axis.",
      .inputs = {{"x", "any shape of at least one dimension"}},
      .outputs = {{"y", "the shape of x"}},
      .options = ir::OptionSchema::of<NormalizeOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {normalize(in[0], options_as<NormalizeOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&normalize_function};
  return defs;
}
