#include <thimble/ops/layer_norm.h>

#include "ir/function_def.h"

namespace thimble {

void describe(LayerNormOptions& o, ir::OptionVisitor& v) {
  v.field("dims", o.dims, "how many of the last dimensions are normalised together");
  v.field("epsilon", o.epsilon, "added to the variance");
  v.field("affine", o.affine, "with a trained scale and shift");
  v.field("bias", o.bias, "with a trained shift beside the scale");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(layer_norm) {
  static const FunctionDef layer_norm_function{
      .name = "layer_norm",
      .doc = "A layer normalisation layer over the last dims dimensions.",
      .inputs = {{"x", "[N, ...]"}},
      .outputs = {{"y", "the shape of x"}},
      .parameters = {{"weight", "the last dims dimensions of x", true},
                     {"bias", "the last dims dimensions of x", true}},
      .options = ir::OptionSchema::of<LayerNormOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {layer_norm(in[0], options_as<LayerNormOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&layer_norm_function};
  return defs;
}
