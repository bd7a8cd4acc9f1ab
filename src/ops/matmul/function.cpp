#include "ir/function_def.h"
#include "ops/matmul/attrs.h"

THIMBLE_FUNCTION_FOLDER(matmul) {
  static const FunctionDef matmul_function{
      .name = "matmul",
      .doc =
          "Matrix product: y[i, j] = act(sum over l of a[i, l] b[l, j] + bias[j]), for every "
          "matrix of a batch. The dimensions before the last two broadcast; an operand of one "
          "dimension is a row a or a column b, and y is without that dimension.",
      .inputs = {{"a", "[..., m, k] or [k]"},
                 {"b", "[..., k, n] or [k]"},
                 {"bias", "[n], added to every row", true}},
      .outputs = {{"y", "[..., m, n]"}},
      .options = ir::OptionSchema::of<MatmulAttrs>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {matmul(in[0], in[1], in[2], options_as<MatmulAttrs>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&matmul_function};
  return defs;
}
