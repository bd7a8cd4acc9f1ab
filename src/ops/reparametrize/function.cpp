#include <thimble/ops/reparametrize.h>

#include "ir/function_def.h"

namespace thimble {

void describe(ReparametrizeOptions& o, ir::OptionVisitor& v) {
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(reparametrize) {
  static const FunctionDef reparametrize_function{
      .name = "reparametrize",
      .doc =
          "A draw from normal distributions that gradients flow through: z = mean + exp(logvar / "
          "2) noise "
          "in training, the mean at inference.",
      .inputs = {{"mean", "any shape"}, {"logvar", "the shape of mean"}},
      .outputs = {{"z", "the shape of mean"}},
      .options = ir::OptionSchema::of<ReparametrizeOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {reparametrize(in[0], in[1], options_as<ReparametrizeOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&reparametrize_function};
  return defs;
}
