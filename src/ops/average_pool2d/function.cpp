#include <thimble/ops/average_pool2d.h>

#include "ir/function_def.h"

THIMBLE_FUNCTION_FOLDER(average_pool2d) {
  static const FunctionDef global_average_pool2d_function{
      .name = "global_average_pool2d",
      .doc = "The mean of every channel of an image.",
      .example = "auto features = global_average_pool2d(images);",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, C]", .batch_rank = 2}},
      .build = [](std::span<const Value> in, const void* /*options*/) -> std::vector<Value> {
        return {global_average_pool2d(in[0])};
      },
  };
  static const FunctionDef* const defs[] = {&global_average_pool2d_function};
  return defs;
}
