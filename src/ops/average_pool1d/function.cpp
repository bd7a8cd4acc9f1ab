#include <thimble/ops/average_pool1d.h>

#include "ir/function_def.h"

namespace thimble {

void describe(AveragePool1dOptions& o, ir::FieldVisitor& v) {
  v.field("kernel", o.kernel, "size of the window");
  v.field("stride", o.stride, "places the window moves at a time; 0: its size");
  v.field("padding", o.padding, "zeros at the ends; of four numbers the last two count");
  v.field("count_include_pad", o.count_include_pad,
          "divide by the whole window, else by its cells in the sequence");
  v.field("ceil_mode", o.ceil_mode, "a last window that reaches beyond the padding counts, too");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(average_pool1d) {
  static const FunctionDef average_pool1d_function{
      .name = "average_pool1d",
      .doc =
          "The mean of every window: y[n, q, c] = sum over s of x[n, q*stride + s - padding, c] / "
          "count.",
      .example = "auto y = average_pool1d(x, {.kernel = 2});",
      .inputs = {{.name = "x", .doc = "[N, L, C]", .batch_rank = 3}},
      .outputs = {{.name = "y", .doc = "[N, Q, C]", .batch_rank = 3}},
      .options = ir::OptionSchema::of<AveragePool1dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {average_pool1d(in[0], options_as<AveragePool1dOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&average_pool1d_function};
  return defs;
}
