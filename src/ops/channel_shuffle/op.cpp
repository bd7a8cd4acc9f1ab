#include <thimble/ops/channel_shuffle.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/transpose.h>

#include <fmt/format.h>

#include "ir/op_def.h"

// Built from reshape and transpose: there is no op of its own.
THIMBLE_OP_FOLDER(channel_shuffle) { return {}; }

namespace thimble {

Value channel_shuffle(Value x, const ChannelShuffleOptions& options) {
  const Shape& s = x.shape();
  const int64_t groups = options.groups;
  if (s.rank() < 2 || groups < 1 || s[-1] % groups != 0) {
    throw Error("channel_shuffle",
                fmt::format("expected x [N, ..., C] and groups that divide C, got {} and {}",
                            to_string(s), groups));
  }
  // The pixels of one image form one axis; the batch keeps its own axis because its size is open.
  int64_t places = 1;
  for (int axis = 1; axis + 1 < s.rank(); ++axis) places *= s[axis];
  const Value blocks = reshape(x, {s[0], places, groups, s[-1] / groups});
  return reshape(transpose(blocks, {0, 1, 3, 2}), s);
}

}  // namespace thimble
