#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct ChannelShuffleOptions {
  int64_t groups = 2;  // divides the channels
};

// Channels taken from their groups alternately: y[.., i*groups + g] = x[.., g*(C/groups) + i].
// x: [N, ..., C]; y: the shape of x. A transpose between views. Source: Zhang et al., "ShuffleNet",
// 2018. Errors: Error where the groups do not divide C.
Value channel_shuffle(Value x, const ChannelShuffleOptions& options);

}  // namespace thimble
