#include <thimble/ops/lp_pool2d.h>

#include "ir/function_def.h"

namespace thimble {

void describe(LpPool2dOptions& o, ir::FieldVisitor& v) {
  v.field("p", o.p, "of the norm; not 0");
  v.field("kernel", o.kernel, "size of the window");
  v.field("stride", o.stride, "places the window moves at a time; 0: its size");
  v.field("ceil_mode", o.ceil_mode, "a last window that reaches beyond the image counts, too");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(lp_pool2d) {
  static const FunctionDef lp_pool2d_function{
      .name = "lp_pool2d",
      .doc = "Power-average pooling: y[n, p, q, c] = (sum over the window of x^p)^(1/p).",
      .example = "auto y = lp_pool2d(x, {.p = 3, .kernel = 2});",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4}},
      .options = ir::OptionSchema::of<LpPool2dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {lp_pool2d(in[0], options_as<LpPool2dOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&lp_pool2d_function};
  return defs;
}
