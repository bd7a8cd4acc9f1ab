// Shared by batch normalization in training, at inference and in backward.
#pragma once

#include <fmt/format.h>

#include "ir/graph.h"
#include "ir/op_def.h"
#include "ops/families/norm/batch_norm_dims.h"

namespace thimble::ops {

// Values per channel in a tensor [..., C].
inline int64_t values_per_channel(const Shape& x) { return x.elements() / x[-1]; }

// Fails unless input i is a tensor [N, ..., C].
inline void check_channels_last(const ir::InferContext& c, int i) {
  c.require(c.shape(i).rank() >= 2 && c.shape(i)[-1] >= 1,
            "expected x [N, ..., C] with the channels last");
}

// Fails unless inputs first to last are left out or [C], where C is the number of channels of
// input 0.
inline void check_channel_values(const ir::InferContext& c, int first, int last) {
  const int64_t channels = c.shape(0)[-1];
  for (int i = first; i <= last; ++i) {
    if (!c.has(i)) continue;
    if (c.shape(i) != Shape{channels}) {
      c.fail(fmt::format("expected {} of shape [{}], one value a channel",
                         c.op.signature.inputs[static_cast<size_t>(i)].name, channels));
    }
  }
}

inline batch_norm_dims batch_norm_sizes(const Shape& x, double epsilon) {
  batch_norm_dims d{};
  d.rows = static_cast<int>(values_per_channel(x));
  d.channels = static_cast<int>(x[-1]);
  d.epsilon = static_cast<float>(epsilon);
  return d;
}

// Whether training may move given statistics: states and parameters are kept from step to step.
inline bool is_kept(const Value& v) {
  if (!v) return false;
  const ir::Role role = v.graph().data(v.id()).role;
  return role == ir::Role::state || role == ir::Role::parameter;
}

// The value after the updates that other layers have made of it so far.
inline Value latest(const Value& v) {
  return is_kept(v) ? v.graph().value(v.graph().updated(v.id())) : v;
}

// Whether running statistics are those that another layer has moved, or that ops compute. Training
// does not read them; the node must not wait for them, because updates run after the loss.
inline bool is_computed(const Value& v) { return v && v.graph().data(v.id()).producer >= 0; }

// Normalizes with running statistics, or with batch statistics computed before.
[[nodiscard]] const OpDef& batch_norm_inference_op();

inline constexpr const char* kOneValue =
    "a batch of one value a channel has no variance to train on; take a larger batch, or drop the "
    "last batch of an epoch where it has one sample";

}  // namespace thimble::ops
