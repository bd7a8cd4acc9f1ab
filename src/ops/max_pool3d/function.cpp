#include <thimble/ops/max_pool3d.h>

#include "ir/function_def.h"

namespace thimble {

void describe(MaxPool3dOptions& o, ir::FieldVisitor& v) {
  v.field("kernel", o.kernel, "size of the window: one number, or depth, height and width");
  v.field("stride", o.stride, "places the window moves at a time; none: its size");
  v.field("padding", o.padding, "cells around the volume that are never the largest");
  v.field("dilation", o.dilation, "from one cell of the window to the next");
  v.field("ceil_mode", o.ceil_mode, "a last window that reaches beyond the padding counts, too");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(max_pool3d) {
  static const FunctionDef def{
      .name = "max_pool3d",
      .doc = "The largest value of every window of volumes.",
      .example = "auto y = max_pool3d(x, {.kernel = {2}});",
      .inputs = {{.name = "x",
                  .doc = "[N, D, H, W, C]",
                  .batch_rank = 5,
                  .types = ir::kFloatingTypes | DType::i8}},
      .outputs = {{.name = "y", .doc = "[N, O, P, Q, C]", .batch_rank = 5}},
      .options = ir::OptionSchema::of<MaxPool3dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {max_pool3d(in[0], options_as<MaxPool3dOptions>(options))};
      },
  };
  static const FunctionDef with_indices{
      .name = "max_pool3d_with_indices",
      .doc = "max_pool3d, and where in the volume the largest values stood.",
      .example = "auto [y, index] = max_pool3d_with_indices(x, {.kernel = {2}});",
      .inputs = {{.name = "x",
                  .doc = "[N, D, H, W, C]",
                  .batch_rank = 5,
                  .types = ir::kFloatingTypes | DType::i8}},
      .outputs = {{.name = "y", .doc = "[N, O, P, Q, C]", .batch_rank = 5},
                  {.name = "index",
                   .doc = "[N, O, P, Q, C], i32: (depth * H + row) * W + column",
                   .batch_rank = 5}},
      .options = ir::OptionSchema::of<MaxPool3dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto pooled = max_pool3d_with_indices(in[0], options_as<MaxPool3dOptions>(options));
        return {pooled.y, pooled.index};
      },
  };
  static const FunctionDef* const defs[] = {&def, &with_indices};
  return defs;
}
