#include <thimble/ops/cosine_similarity.h>

#include "ir/function_def.h"

namespace thimble {

void describe(CosineSimilarityOptions& o, ir::FieldVisitor& v) {
  v.field("axis", o.axis, "along which vectors lie; negative counts from the last");
  v.field("epsilon", o.epsilon, "the least length");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(cosine_similarity) {
  static const FunctionDef cosine_similarity_function{
      .name = "cosine_similarity",
      .doc =
          "The cosine of the angle between vectors along an axis: a b / (max(||a||, epsilon) "
          "max(||b||, epsilon)).",
      .example = "auto y = cosine_similarity(a, b);",
      .inputs = {{"a", "any shape"}, {"b", "a shape that broadcasts with it"}},
      .outputs = {{"y", "the broadcast shape without the axis"}},
      .options = ir::OptionSchema::of<CosineSimilarityOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {cosine_similarity(in[0], in[1], options_as<CosineSimilarityOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&cosine_similarity_function};
  return defs;
}
