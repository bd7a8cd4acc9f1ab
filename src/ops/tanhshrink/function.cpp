#include <thimble/ops/tanhshrink.h>

#include "ir/function_def.h"

THIMBLE_FUNCTION_FOLDER(tanhshrink) {
  static const FunctionDef tanhshrink_function{
      .name = "tanhshrink",
      .doc = "y = x - tanh(x), element by element.",
      .example = "auto y = tanhshrink(x);",
      .inputs = {{"x", "any shape"}},
      .outputs = {{"y", "the shape of x"}},
      .build = [](std::span<const Value> in, const void*) -> std::vector<Value> {
        return {tanhshrink(in[0])};
      },
  };
  static const FunctionDef* const defs[] = {&tanhshrink_function};
  return defs;
}
