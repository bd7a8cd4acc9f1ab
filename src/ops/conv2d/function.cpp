#include <thimble/ops/conv2d.h>

#include "ops/conv2d/options.h"

THIMBLE_FUNCTION_FOLDER(conv2d) {
  static const FunctionDef def{
      .name = "conv2d",
      .doc = "A convolution layer over images.",
      .inputs = {{"x", "[N, H, W, C]"}},
      .outputs = {{"y", "[N, P, Q, channels]"}},
      .parameters = {{"weight", "[channels, kh, kw, C / groups]"}, {"bias", "[channels]", true}},
      .options = ir::OptionSchema::of<Conv2dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {conv2d(in[0], options_as<Conv2dOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
