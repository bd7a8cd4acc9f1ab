#include <thimble/ops/conv2d.h>

#include "ops/conv2d/options.h"

THIMBLE_FUNCTION_FOLDER(conv2d) {
  static const FunctionDef def{
      .name = "conv2d",
      .doc = "A convolution layer over images.",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, channels]", .batch_rank = 4}},
      .parameters = {{"weight", "[channels, kh, kw, C / groups]"}, {"bias", "[channels]", true}},
      .options = ir::OptionSchema::of<Conv2dOptions>(),
      .required = {"channels"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {conv2d(in[0], options_as<Conv2dOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
