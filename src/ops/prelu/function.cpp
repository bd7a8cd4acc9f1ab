#include <thimble/ops/prelu.h>

#include "ir/function_def.h"

namespace thimble {

void describe(PreluOptions& o, ir::OptionVisitor& v) {
  v.field("per_channel", o.per_channel, "a slope a channel instead of one for all");
  v.field("slope", o.slope, "initial value");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(prelu) {
  static const FunctionDef prelu_function{
      .name = "prelu",
      .doc = "A layer of rectified linear units with a trained slope below 0.",
      .inputs = {{"x", "[N, ..., C]"}},
      .outputs = {{"y", "the shape of x"}},
      .parameters = {{"weight", "[1] or [C]"}},
      .options = ir::OptionSchema::of<PreluOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {prelu(in[0], options_as<PreluOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&prelu_function};
  return defs;
}
