#include <thimble/ops/instance_norm.h>

#include "ir/function_def.h"

namespace thimble {

void describe(InstanceNormOptions& o, ir::OptionVisitor& v) {
  v.field("momentum", o.momentum, "weight of a new batch in the running statistics, as in PyTorch");
  v.field("epsilon", o.epsilon, "added to the variance");
  v.field("affine", o.affine, "with a trained scale and shift");
  v.field("track_running_stats", o.track_running_stats,
          "normalise by running statistics at inference");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(instance_norm) {
  static const FunctionDef instance_norm_function{
      .name = "instance_norm",
      .doc = "An instance normalisation layer: each channel of one image is normalised by itself.",
      .inputs = {{"x", "[N, ..., C]"}},
      .outputs = {{"y", "the shape of x"}},
      .parameters = {{"weight", "[C]", true},
                     {"bias", "[C]", true},
                     {.name = "running_mean", .doc = "[C], state", .optional = true, .state = true},
                     {.name = "running_var", .doc = "[C], state", .optional = true, .state = true}},
      .options = ir::OptionSchema::of<InstanceNormOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {instance_norm(in[0], options_as<InstanceNormOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&instance_norm_function};
  return defs;
}
