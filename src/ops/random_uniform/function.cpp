#include <thimble/ops/random_uniform.h>

#include "ir/function_def.h"

namespace thimble {

void describe(RandomUniformOptions& o, ir::OptionVisitor& v) {
  v.field("low", o.low, "the smallest number");
  v.field("high", o.high, "above the largest number");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(random_uniform) {
  static const FunctionDef random_uniform_function{
      .name = "random_uniform",
      .doc =
          "Random numbers evenly spread over [low, high), new ones each step. No gradient flows "
          "through.",
      .example = "auto noise = random_uniform(x, {.low = -1, .high = 1});",
      .inputs = {{"like", "gives the shape"}},
      .outputs = {{"y", "the shape of like, f32"}},
      .options = ir::OptionSchema::of<RandomUniformOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {random_uniform(in[0], options_as<RandomUniformOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&random_uniform_function};
  return defs;
}
