#include <thimble/ops/hinge_embedding.h>

#include "ir/function_def.h"

namespace thimble {

void describe(HingeEmbeddingOptions& o, ir::FieldVisitor& v) {
  v.field("margin", o.margin, "that unlike pairs should keep");
  v.field("reduction", o.reduction, "how the terms become one number");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(hinge_embedding) {
  static const FunctionDef hinge_embedding_function{
      .name = "hinge_embedding",
      .doc =
          "Hinge embedding loss: reduce of x where the target is 1, max(0, margin - x) where it is "
          "-1.",
      .example = "auto loss = hinge_embedding(distance, alike);",
      .inputs = {{"x", "any shape: distances"},
                 {"target", "a shape that broadcasts with it: 1 or -1"}},
      .outputs = {{"loss", "one number, or the terms"}},
      .options = ir::OptionSchema::of<HingeEmbeddingOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {hinge_embedding(in[0], in[1], options_as<HingeEmbeddingOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&hinge_embedding_function};
  return defs;
}
