#include <thimble/ops/max_pool2d.h>

#include "ir/function_def.h"
#include "ops/max_pool2d/attrs.h"

THIMBLE_FUNCTION_FOLDER(max_pool2d) {
  static const FunctionDef max_pool2d_function{
      .name = "max_pool2d",
      .doc =
          "The largest value of every window: y[n, p, q, c] = max over r, s of "
          "x[n, p*stride + r*dilation - padding, ..., c]; NaN where the window holds one.",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4}},
      .options = ir::OptionSchema::of<MaxPool2dAttrs>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {max_pool2d(in[0], options_as<MaxPool2dAttrs>(options))};
      },
  };
  static const FunctionDef with_indices_function{
      .name = "max_pool2d_with_indices",
      .doc = "max_pool2d, and where in the image the largest values stood.",
      .example = "auto [y, index] = max_pool2d_with_indices(x, {.kernel = 2});",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4},
                  {.name = "index", .doc = "[N, P, Q, C], i32: row * W + column", .batch_rank = 4}},
      .options = ir::OptionSchema::of<MaxPool2dAttrs>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto pooled = max_pool2d_with_indices(in[0], options_as<MaxPool2dAttrs>(options));
        return {pooled.y, pooled.index};
      },
  };
  static const FunctionDef global_max_pool2d_function{
      .name = "global_max_pool2d",
      .doc = "The largest value of every channel of an image.",
      .example = "auto features = global_max_pool2d(images);",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, C]", .batch_rank = 2}},
      .build = [](std::span<const Value> in, const void* /*options*/) -> std::vector<Value> {
        return {global_max_pool2d(in[0])};
      },
  };
  static const FunctionDef* const defs[] = {&max_pool2d_function, &with_indices_function,
                                            &global_max_pool2d_function};
  return defs;
}
