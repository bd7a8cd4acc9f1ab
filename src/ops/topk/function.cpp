#include <thimble/ops/topk.h>

#include "ir/function_def.h"
#include "ops/topk/attrs.h"

THIMBLE_FUNCTION_FOLDER(topk) {
  static const FunctionDef topk_function{
      .name = "topk",
      .doc =
          "The k largest (or smallest) elements along an axis, the best first, and where they "
          "stood.",
      .inputs = {{"x", "any shape of at least one dimension"}},
      .outputs = {{"values", "x with k elements of the axis"}, {"indices", "likewise, i32"}},
      .options = ir::OptionSchema::of<TopkOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const Topk best = topk(in[0], options_as<TopkOptions>(options));
        return {best.values, best.indices};
      },
  };
  static const FunctionDef* const defs[] = {&topk_function};
  return defs;
}
