#include "ops/nearest_centroid/attrs.h"

THIMBLE_FUNCTION_FOLDER(nearest_centroid) {
  static const FunctionDef nearest_centroid_function{
      .name = "nearest_centroid",
      .doc =
          "A classifier head that learns a class from a few samples without gradients: training "
          "adds each row to its class, and the scores say how near rows lie to the mean of each "
          "class. The states are <name>.sums [classes, D] and <name>.counts [classes].",
      .example = "auto scores = nearest_centroid(features, label, {.classes = 10});",
      .inputs = {{"x", "[N, D]"}, {"labels", "[N], i32"}},
      .outputs = {{"y", "[N, classes]"}},
      .options = ir::OptionSchema::of<NearestCentroidOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {nearest_centroid(in[0], in[1], options_as<NearestCentroidOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&nearest_centroid_function};
  return defs;
}
