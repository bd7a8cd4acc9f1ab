#include <thimble/ops/channel_shuffle.h>

#include "ir/function_def.h"

namespace thimble {

void describe(ChannelShuffleOptions& o, ir::FieldVisitor& v) {
  v.field("groups", o.groups, "divides the channels");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(channel_shuffle) {
  static const FunctionDef channel_shuffle_function{
      .name = "channel_shuffle",
      .doc =
          "Channels taken from their groups alternately: y[.., i*groups + g] = "
          "x[.., g*(C/groups) + i].",
      .example = "auto y = channel_shuffle(x, {.groups = 3});",
      .inputs = {{.name = "x", .doc = "[N, ..., C]", .types = ir::kAnyType}},
      .outputs = {{"y", "the shape of x"}},
      .options = ir::OptionSchema::of<ChannelShuffleOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {channel_shuffle(in[0], options_as<ChannelShuffleOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&channel_shuffle_function};
  return defs;
}
