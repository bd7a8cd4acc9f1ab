#include <thimble/ops/adaptive_max_pool2d.h>

#include "ir/function_def.h"

namespace thimble {

void describe(AdaptiveMaxPool1dOptions& o, ir::FieldVisitor& v) {
  v.field("size", o.size, "length of the result; 0: as x");
}

void describe(AdaptiveMaxPool3dOptions& o, ir::FieldVisitor& v) {
  v.field("size", o.size, "of the result: one number, or depth, height and width; 0: as x");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(adaptive_max_pool2d) {
  static const FunctionDef two_sides{
      .name = "adaptive_max_pool2d",
      .doc =
          "The largest value of windows that divide an image of any size as evenly as they can: "
          "place i of a "
          "side of P covers the cells floor(i * H / P) to ceil((i + 1) * H / P).",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4}},
      .options = ir::OptionSchema::of<AdaptiveMaxPool2dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {adaptive_max_pool2d(in[0], options_as<AdaptiveMaxPool2dOptions>(options))};
      },
  };
  static const FunctionDef one_side{
      .name = "adaptive_max_pool1d",
      .doc =
          "The largest value of windows that divide a sequence of any length as evenly as they "
          "can.",
      .example = "auto y = adaptive_max_pool1d(x, {.size = 4});",
      .inputs = {{.name = "x", .doc = "[N, L, C]", .batch_rank = 3}},
      .outputs = {{.name = "y", .doc = "[N, Q, C]", .batch_rank = 3}},
      .options = ir::OptionSchema::of<AdaptiveMaxPool1dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {adaptive_max_pool1d(in[0], options_as<AdaptiveMaxPool1dOptions>(options))};
      },
  };
  static const FunctionDef two_sides_indices{
      .name = "adaptive_max_pool2d_with_indices",
      .doc =
          "adaptive_max_pool2d, and where in the image the largest values stood: row * W + column.",
      .example = "auto [y, index] = adaptive_max_pool2d_with_indices(x, {.size = 7});",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4},
                  {.name = "index", .doc = "[N, P, Q, C], i32", .batch_rank = 4}},
      .options = ir::OptionSchema::of<AdaptiveMaxPool2dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto pooled =
            adaptive_max_pool2d_with_indices(in[0], options_as<AdaptiveMaxPool2dOptions>(options));
        return {pooled.y, pooled.index};
      },
  };
  static const FunctionDef one_side_indices{
      .name = "adaptive_max_pool1d_with_indices",
      .doc = "adaptive_max_pool1d, and where in the sequence the largest values stood.",
      .example = "auto [y, index] = adaptive_max_pool1d_with_indices(x, {.size = 4});",
      .inputs = {{.name = "x", .doc = "[N, L, C]", .batch_rank = 3}},
      .outputs = {{.name = "y", .doc = "[N, Q, C]", .batch_rank = 3},
                  {.name = "index", .doc = "[N, Q, C], i32", .batch_rank = 3}},
      .options = ir::OptionSchema::of<AdaptiveMaxPool1dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto pooled =
            adaptive_max_pool1d_with_indices(in[0], options_as<AdaptiveMaxPool1dOptions>(options));
        return {pooled.y, pooled.index};
      },
  };
  static const FunctionDef three_sides{
      .name = "adaptive_max_pool3d",
      .doc = "The largest value of windows that divide a volume of any size as evenly as they can.",
      .example = "auto y = adaptive_max_pool3d(x, {.size = {2, 4, 4}});",
      .inputs = {{.name = "x", .doc = "[N, D, H, W, C]", .batch_rank = 5}},
      .outputs = {{.name = "y", .doc = "[N, O, P, Q, C]", .batch_rank = 5}},
      .options = ir::OptionSchema::of<AdaptiveMaxPool3dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {adaptive_max_pool3d(in[0], options_as<AdaptiveMaxPool3dOptions>(options))};
      },
  };
  static const FunctionDef three_sides_indices{
      .name = "adaptive_max_pool3d_with_indices",
      .doc = "adaptive_max_pool3d, and where in the volume the largest values stood.",
      .example = "auto [y, index] = adaptive_max_pool3d_with_indices(x, {.size = {2, 4, 4}});",
      .inputs = {{.name = "x", .doc = "[N, D, H, W, C]", .batch_rank = 5}},
      .outputs = {{.name = "y", .doc = "[N, O, P, Q, C]", .batch_rank = 5},
                  {.name = "index",
                   .doc = "[N, O, P, Q, C], i32: (depth * H + row) * W + column",
                   .batch_rank = 5}},
      .options = ir::OptionSchema::of<AdaptiveMaxPool3dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto pooled =
            adaptive_max_pool3d_with_indices(in[0], options_as<AdaptiveMaxPool3dOptions>(options));
        return {pooled.y, pooled.index};
      },
  };
  static const FunctionDef* const defs[] = {&two_sides,        &one_side,    &two_sides_indices,
                                            &one_side_indices, &three_sides, &three_sides_indices};
  return defs;
}
