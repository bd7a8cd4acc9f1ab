#include <thimble/ops/average_pool3d.h>

#include "ir/function_def.h"

namespace thimble {

void describe(AveragePool3dOptions& o, ir::FieldVisitor& v) {
  v.field("kernel", o.kernel, "size of the window: one number, or depth, height and width");
  v.field("stride", o.stride, "places the window moves at a time; none: its size");
  v.field("padding", o.padding, "zeros around the volume");
  v.field("count_include_pad", o.count_include_pad,
          "divide by the whole window, else by its cells in the volume");
  v.field("ceil_mode", o.ceil_mode, "a last window that reaches beyond the padding counts, too");
  v.field("divisor", o.divisor, "divide by this; 0: by the cells");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(average_pool3d) {
  static const FunctionDef def{
      .name = "average_pool3d",
      .doc = "The mean of every window of volumes.",
      .example = "auto y = average_pool3d(x, {.kernel = {2}});",
      .inputs = {{.name = "x", .doc = "[N, D, H, W, C]", .batch_rank = 5}},
      .outputs = {{.name = "y", .doc = "[N, O, P, Q, C]", .batch_rank = 5}},
      .options = ir::OptionSchema::of<AveragePool3dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {average_pool3d(in[0], options_as<AveragePool3dOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
