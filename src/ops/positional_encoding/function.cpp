#include <thimble/ops/positional_encoding.h>

#include "ir/function_def.h"

namespace thimble {

void describe(PositionalEncodingOptions& o, ir::OptionVisitor& v) {
  v.field("base", o.base, "column pair i has the rate base^(-2i / D)");
  v.field("offset", o.offset, "of the first position");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(positional_encoding) {
  static const FunctionDef def{
      .name = "positional_encoding",
      .doc = "x plus sines and cosines of its positions along axis 1.",
      .example = "auto y = positional_encoding(embedded);",
      .inputs = {{.name = "x", .doc = "[N, T, D]", .batch_rank = 3}},
      .outputs = {{"y", "the shape of x"}},
      .options = ir::OptionSchema::of<PositionalEncodingOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {positional_encoding(in[0], options_as<PositionalEncodingOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
