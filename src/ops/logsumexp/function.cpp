#include <thimble/ops/logsumexp.h>

#include <thimble/ops/sum.h>
#include "ir/function_def.h"

THIMBLE_FUNCTION_FOLDER(logsumexp) {
  static const FunctionDef logsumexp_function{
      .name = "logsumexp",
      .doc = "log(sum of exp(x)) over axes (all where none is named), without overflow.",
      .example = "auto y = logsumexp(x, {.axes = {-1}});",
      .inputs = {{"x", "any shape"}},
      .outputs = {{"y", "x without the axes, or with size 1 in their place"}},
      .options = ir::OptionSchema::of<ReduceOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {logsumexp(in[0], options_as<ReduceOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&logsumexp_function};
  return defs;
}
