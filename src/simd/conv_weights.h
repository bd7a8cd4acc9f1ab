// How the weight gradient is split into partial sums and tasks. The partial sums depend on sizes
// alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd/conv_dims.h"
#include "simd/workspace.h"

namespace thimble::simd {

// The rows of all output images are split into `partials` ranges. Each range has a gradient of its
// own: the first one in dw itself, the others in the workspace; they are added in order at the end.
struct WeightSplit {
  int partials;
  int64_t rows;      // of output images per partial sum
  int out_channels;  // per task
  int out_blocks;    // per group
};

inline int64_t conv_weight_count(const conv_dims& d) {
  return static_cast<int64_t>(d.k) * d.r * d.s * (d.c / d.groups);
}

// Input channels of a group of the whole convolution. They decide about the order of sums, so that
// the gradient of some of them has the bits that it has within the gradient of all.
inline int64_t whole_group_in(const conv_dims& d) {
  return d.c_of > 0 ? d.c_of / d.groups : d.c / d.groups;
}

// Number of weights of the whole convolution.
inline int64_t whole_weight_count(const conv_dims& d) {
  return static_cast<int64_t>(d.k) * d.r * d.s * whole_group_in(d);
}

// Output channels whose weight gradient a call computes.
inline int part_channels(const conv_dims& d) { return d.k_count > 0 ? d.k_count : d.k; }

// Number of weights of these channels.
inline int64_t part_weight_count(const conv_dims& d) {
  return conv_weight_count(d) / std::max(1, d.k) * part_channels(d);
}

// Whether the taps of one window row are computed together, as if they were more input channels:
// they are contiguous in x and in dw, and fill vectors better than few channels do.
inline bool merges_taps(const conv_dims& d) {
  constexpr int64_t kLanes = 16;
  return d.groups == 1 && d.dilation_w == 1 &&
         divide_up(d.s * whole_group_in(d), kLanes) < d.s * divide_up(whole_group_in(d), kLanes);
}

inline constexpr int64_t kLeastTaskMultiplyAdds = int64_t{1} << 15;

// tasks: the number of tasks that the output channels alone give.
inline int weight_partials(const conv_dims& d, int64_t tasks, int64_t units) {
  constexpr int64_t kWantedTasks = 16;
  constexpr int64_t kMostFloats = int64_t{1} << 19;  // limit of 2 MB for the partial sums
  const int64_t weights = whole_weight_count(d);
  const int64_t work = weights * d.n * d.p * d.q / std::max<int64_t>(1, tasks);
  const int64_t partials = std::min({divide_up(kWantedTasks, tasks), kMostFloats / weights + 1,
                                     std::max<int64_t>(1, work / kLeastTaskMultiplyAdds), units});
  return static_cast<int>(std::max<int64_t>(1, partials));
}

inline WeightSplit split_weights(const conv_dims& d) {
  constexpr int kOutChannels = 24;
  WeightSplit split{};
  split.out_channels = std::min(kOutChannels, d.k / d.groups);
  split.out_blocks = static_cast<int>(divide_up(d.k / d.groups, split.out_channels));
  const int64_t rows = static_cast<int64_t>(d.n) * d.p;
  split.partials = weight_partials(d, static_cast<int64_t>(split.out_blocks) * d.groups, rows);
  split.rows = divide_up(rows, split.partials);
  return split;
}

}  // namespace thimble::simd
