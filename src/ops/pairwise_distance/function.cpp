#include <thimble/ops/pairwise_distance.h>

#include "ir/function_def.h"

namespace thimble {

void describe(PairwiseDistanceOptions& o, ir::FieldVisitor& v) {
  v.field("p", o.p, "of the norm");
  v.field("epsilon", o.epsilon, "added to differences");
  v.field("keepdims", o.keepdims, "keep the axis with size 1");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(pairwise_distance) {
  static const FunctionDef pairwise_distance_function{
      .name = "pairwise_distance",
      .doc = "Distances of vectors: ||a - b + epsilon||_p along the last axis.",
      .example = "auto y = pairwise_distance(a, b);",
      .inputs = {{"a", "any shape"}, {"b", "a shape that broadcasts with it"}},
      .outputs = {{"y", "the broadcast shape without the last axis"}},
      .options = ir::OptionSchema::of<PairwiseDistanceOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {pairwise_distance(in[0], in[1], options_as<PairwiseDistanceOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&pairwise_distance_function};
  return defs;
}
