// A tensor [rows, channels] cut into blocks, for kernels that reduce or scale every channel.
//
// Several rows are read as one wide row, so that vectors are full even if there are few channels:
// with 3 channels, 16 rows form a wide row of 48 values in which value i belongs to channel i % 3.
// Sizes and blocks depend on the shape alone, so results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "simd/workspace.h"

namespace thimble::ops {

struct ChannelRows {
  int channels = 0;
  int fold = 1;           // rows in a wide row
  int width = 0;          // values in a wide row
  int64_t wide_rows = 0;  // whole wide rows
  int tail = 0;           // values after the last whole wide row
  int64_t block_rows = 1;
  int64_t blocks = 0;
};

inline ChannelRows channel_rows(int rows, int channels) {
  constexpr int kLanes = 16;          // the widest vector
  constexpr int kManyChannels = 128;  // from here on idle lanes of the last vector cost little
  constexpr int64_t kBlockValues = 1 << 14;
  constexpr int64_t kLeastBlockRows = 64;  // keeps the number of block sums small
  ChannelRows r;
  r.channels = channels;
  r.fold = channels >= kManyChannels ? 1 : kLanes / std::gcd(std::max(channels, 1), kLanes);
  r.width = r.fold * channels;
  r.wide_rows = rows / r.fold;
  r.tail = rows % r.fold * channels;
  r.block_rows = std::max(kLeastBlockRows, kBlockValues / std::max(r.width, 1));
  const int64_t values = static_cast<int64_t>(rows) * channels;
  r.blocks = values == 0 ? 0 : std::max<int64_t>(1, simd::divide_up(r.wide_rows, r.block_rows));
  return r;
}

struct ChannelBlock {
  ptrdiff_t first = 0;  // index of the first value
  int64_t rows = 0;     // whole wide rows
  int tail = 0;         // values after them; only the last block has any
  int64_t per_channel = 0;
};

inline ChannelBlock channel_block(const ChannelRows& r, int64_t i) {
  ChannelBlock block;
  block.first = static_cast<ptrdiff_t>(i * r.block_rows) * r.width;
  block.rows = std::min(r.block_rows, r.wide_rows - i * r.block_rows);
  block.tail = i + 1 == r.blocks ? r.tail : 0;
  block.per_channel = block.rows * r.fold + block.tail / r.channels;
  return block;
}

// sums[c] = the sum of the values of wide that belong to channel c.
inline void fold_wide(float* sums, const float* wide, const ChannelRows& r) {
  for (int c = 0; c < r.channels; ++c) {
    float sum = 0.0F;
    for (int at = c; at < r.width; at += r.channels) sum += wide[at];
    sums[c] = sum;
  }
}

// Repeats the channels' values along a wide row.
inline void widen(float* wide, const float* values, const ChannelRows& r) {
  for (int at = 0; at < r.width; at += r.channels) {
    std::copy(values, values + r.channels, wide + at);
  }
}

}  // namespace thimble::ops
