#include <thimble/ops/rotary_embedding.h>

#include "ir/function_def.h"

namespace thimble {

void describe(RotaryEmbeddingOptions& o, ir::OptionVisitor& v) {
  v.field("interleaved", o.interleaved, "pairs are neighbours (2i, 2i + 1), not halves");
  v.field("base", o.base, "pair i rotates by base^(-2i / width) radians a position");
  v.field("width", o.width, "how many of the last dimension's numbers rotate; even; 0: all");
  v.field("offset", o.offset, "of the first position");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(rotary_embedding) {
  static const FunctionDef def{
      .name = "rotary_embedding",
      .doc = "Pairs of numbers turned by angles that grow with their position along axis 1.",
      .example = "auto q = rotary_embedding(reshape(queries, {-1, 64, 6, 32}));",
      .inputs = {{"x", "[N, T, ..., D]"}},
      .outputs = {{"y", "the shape of x"}},
      .options = ir::OptionSchema::of<RotaryEmbeddingOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {rotary_embedding(in[0], options_as<RotaryEmbeddingOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
