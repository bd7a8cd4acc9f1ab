#include <thimble/ops/random_normal.h>

#include "ir/function_def.h"

namespace thimble {

void describe(RandomNormalOptions& o, ir::OptionVisitor& v) {
  v.field("mean", o.mean, "of the distribution");
  v.field("stddev", o.stddev, "its standard deviation");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(random_normal) {
  static const FunctionDef random_normal_function{
      .name = "random_normal",
      .doc = "Normally distributed random numbers, new ones each step. No gradient flows through.",
      .example = "auto noise = random_normal(x);",
      .inputs = {{"like", "gives the shape"}},
      .outputs = {{"y", "the shape of like, f32"}},
      .options = ir::OptionSchema::of<RandomNormalOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {random_normal(in[0], options_as<RandomNormalOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&random_normal_function};
  return defs;
}
