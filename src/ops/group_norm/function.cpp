#include <thimble/ops/group_norm.h>

#include "ir/function_def.h"

namespace thimble {

void describe(GroupNormOptions& o, ir::OptionVisitor& v) {
  v.field("groups", o.groups, "of neighbouring channels; must be set, divides their number");
  v.field("epsilon", o.epsilon, "added to the variance");
  v.field("affine", o.affine, "with a trained scale and shift");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(group_norm) {
  static const FunctionDef group_norm_function{
      .name = "group_norm",
      .doc = "A group normalisation layer: groups of channels of one image are normalised.",
      .inputs = {{"x", "[N, ..., C]"}},
      .outputs = {{"y", "the shape of x"}},
      .parameters = {{"weight", "[C]", true}, {"bias", "[C]", true}},
      .options = ir::OptionSchema::of<GroupNormOptions>(),
      .required = {"groups"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {group_norm(in[0], options_as<GroupNormOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&group_norm_function};
  return defs;
}
