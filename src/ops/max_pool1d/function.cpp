#include <thimble/ops/max_pool1d.h>

#include "ir/function_def.h"

namespace thimble {

void describe(MaxPool1dOptions& o, ir::FieldVisitor& v) {
  v.field("kernel", o.kernel, "size of the window");
  v.field("stride", o.stride, "places the window moves at a time; 0: its size");
  v.field("padding", o.padding,
          "cells at the ends that are never the largest; of four numbers the last two count");
  v.field("dilation", o.dilation, "from one cell of the window to the next");
  v.field("ceil_mode", o.ceil_mode, "a last window that reaches beyond the padding counts, too");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(max_pool1d) {
  static const FunctionDef max_pool1d_function{
      .name = "max_pool1d",
      .doc =
          "The largest value of every window: y[n, q, c] = max over s of x[n, q*stride + s - "
          "padding, c].",
      .example = "auto y = max_pool1d(x, {.kernel = 2});",
      .inputs = {{.name = "x",
                  .doc = "[N, L, C]",
                  .batch_rank = 3,
                  .types = ir::kFloatingTypes | DType::i8}},
      .outputs = {{.name = "y", .doc = "[N, Q, C]", .batch_rank = 3}},
      .options = ir::OptionSchema::of<MaxPool1dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {max_pool1d(in[0], options_as<MaxPool1dOptions>(options))};
      },
  };
  static const FunctionDef with_indices_function{
      .name = "max_pool1d_with_indices",
      .doc = "max_pool1d, and where in the sequence the largest values stood.",
      .example = "auto [y, index] = max_pool1d_with_indices(x, {.kernel = 2});",
      .inputs = {{.name = "x",
                  .doc = "[N, L, C]",
                  .batch_rank = 3,
                  .types = ir::kFloatingTypes | DType::i8}},
      .outputs = {{.name = "y", .doc = "[N, Q, C]", .batch_rank = 3},
                  {.name = "index", .doc = "[N, Q, C], i32", .batch_rank = 3}},
      .options = ir::OptionSchema::of<MaxPool1dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto pooled = max_pool1d_with_indices(in[0], options_as<MaxPool1dOptions>(options));
        return {pooled.y, pooled.index};
      },
  };
  static const FunctionDef* const defs[] = {&max_pool1d_function, &with_indices_function};
  return defs;
}
