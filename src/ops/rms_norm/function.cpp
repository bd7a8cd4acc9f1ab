#include <thimble/ops/rms_norm.h>

#include "ir/function_def.h"

namespace thimble {

void describe(RmsNormOptions& o, ir::OptionVisitor& v) {
  v.field("dims", o.dims, "how many of the last dimensions are normalised together");
  v.field("epsilon", o.epsilon, "added to the mean of squares");
  v.field("affine", o.affine, "with a trained scale");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(rms_norm) {
  static const FunctionDef rms_norm_function{
      .name = "rms_norm",
      .doc = "A root mean square normalisation layer over the last dims dimensions.",
      .inputs = {{"x", "[N, ...]"}},
      .outputs = {{"y", "the shape of x"}},
      .parameters = {{"weight", "the last dims dimensions of x", true}},
      .options = ir::OptionSchema::of<RmsNormOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {rms_norm(in[0], options_as<RmsNormOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&rms_norm_function};
  return defs;
}
