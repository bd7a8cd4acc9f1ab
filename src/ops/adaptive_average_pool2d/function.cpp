#include <thimble/ops/adaptive_average_pool2d.h>

#include "ir/function_def.h"
#include "ops/adaptive_average_pool2d/attrs.h"

namespace thimble {

void describe(AdaptiveAveragePool1dOptions& o, ir::FieldVisitor& v) {
  v.field("size", o.size, "length of the result; 0: as x");
}

void describe(AdaptiveAveragePool3dOptions& o, ir::FieldVisitor& v) {
  v.field("size", o.size, "of the result: one number, or depth, height and width; 0: as x");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(adaptive_average_pool2d) {
  static const FunctionDef two_sides{
      .name = "adaptive_average_pool2d",
      .doc =
          "Means over windows that divide an image of any size as evenly as they can: place i of a "
          "side of P covers the cells floor(i * H / P) to ceil((i + 1) * H / P).",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4}},
      .options = ir::OptionSchema::of<AdaptiveAveragePool2dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {adaptive_average_pool2d(in[0], options_as<AdaptiveAveragePool2dOptions>(options))};
      },
  };
  static const FunctionDef one_side{
      .name = "adaptive_average_pool1d",
      .doc = "Means over windows that divide a sequence of any length as evenly as they can.",
      .example = "auto y = adaptive_average_pool1d(x, {.size = 4});",
      .inputs = {{.name = "x", .doc = "[N, L, C]", .batch_rank = 3}},
      .outputs = {{.name = "y", .doc = "[N, Q, C]", .batch_rank = 3}},
      .options = ir::OptionSchema::of<AdaptiveAveragePool1dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {adaptive_average_pool1d(in[0], options_as<AdaptiveAveragePool1dOptions>(options))};
      },
  };
  static const FunctionDef three_sides{
      .name = "adaptive_average_pool3d",
      .doc = "Means over windows that divide a volume of any size as evenly as they can.",
      .example = "auto y = adaptive_average_pool3d(x, {.size = {2, 4, 4}});",
      .inputs = {{.name = "x", .doc = "[N, D, H, W, C]", .batch_rank = 5}},
      .outputs = {{.name = "y", .doc = "[N, O, P, Q, C]", .batch_rank = 5}},
      .options = ir::OptionSchema::of<AdaptiveAveragePool3dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {adaptive_average_pool3d(in[0], options_as<AdaptiveAveragePool3dOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&two_sides, &one_side, &three_sides};
  return defs;
}
