#include <thimble/ops/pixel_shuffle.h>

#include "ir/function_def.h"

namespace thimble {

void describe(PixelShuffleOptions& o, ir::FieldVisitor& v) {
  v.field("factor", o.factor, "how many times as high and wide");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(pixel_shuffle) {
  static const FunctionDef pixel_shuffle_function{
      .name = "pixel_shuffle",
      .doc =
          "Channels become pixels: y[n, h*r + i, w*r + j, c] = x[n, h, w, (c*r + i)*r + j], r = "
          "factor.",
      .example = "auto y = pixel_shuffle(x, {.factor = 2});",
      .inputs =
          {{.name = "x", .doc = "[N, H, W, C * r^2]", .batch_rank = 4, .types = ir::kAnyType}},
      .outputs = {{.name = "y", .doc = "[N, H*r, W*r, C]", .batch_rank = 4}},
      .options = ir::OptionSchema::of<PixelShuffleOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {pixel_shuffle(in[0], options_as<PixelShuffleOptions>(options))};
      },
  };
  static const FunctionDef pixel_unshuffle_function{
      .name = "pixel_unshuffle",
      .doc = "Pixels become channels: the opposite of pixel_shuffle.",
      .example = "auto y = pixel_unshuffle(x, {.factor = 2});",
      .inputs = {{.name = "x", .doc = "[N, H*r, W*r, C]", .batch_rank = 4, .types = ir::kAnyType}},
      .outputs = {{.name = "y", .doc = "[N, H, W, C * r^2]", .batch_rank = 4}},
      .options = ir::OptionSchema::of<PixelShuffleOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {pixel_unshuffle(in[0], options_as<PixelShuffleOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&pixel_shuffle_function, &pixel_unshuffle_function};
  return defs;
}
