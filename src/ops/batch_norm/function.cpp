#include <thimble/ops/batch_norm.h>

#include "ir/function_def.h"

namespace thimble {

void describe(BatchNormOptions& o, ir::OptionVisitor& v) {
  v.field("momentum", o.momentum, "weight of a new batch in the running statistics, as in PyTorch");
  v.field("epsilon", o.epsilon, "added to the variance");
  v.field("affine", o.affine, "with a trained scale and shift");
  v.field("track_running_stats", o.track_running_stats,
          "false: inference, too, uses the statistics of its batch");
  v.field("cumulative", o.cumulative,
          "running statistics are the means over all batches so far, as PyTorch's momentum=None");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(batch_norm) {
  static const FunctionDef batch_norm_function{
      .name = "batch_norm",
      .doc = "A batch normalisation layer over the last dimension, the channels.",
      .inputs = {{"x", "[N, ..., C]"}},
      .outputs = {{"y", "the shape of x"}},
      .parameters = {{"weight", "[C]", true},
                     {"bias", "[C]", true},
                     {.name = "running_mean", .doc = "[C], state", .optional = true, .state = true},
                     {.name = "running_var", .doc = "[C], state", .optional = true, .state = true},
                     {.name = "num_batches_tracked",
                      .doc = "one number, state where cumulative",
                      .optional = true,
                      .state = true}},
      .options = ir::OptionSchema::of<BatchNormOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {batch_norm(in[0], options_as<BatchNormOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&batch_norm_function};
  return defs;
}
