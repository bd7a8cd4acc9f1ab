// Scratch memory of conv_planar-inl.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd/planar.h"

namespace thimble::simd {

// Shared by all threads: the weights in reading order, and the offset of the input that each one
// multiplies.
struct PlanarTables {
  float* weights;    // per group, output channels rounded up, [taps of all phases, input channel]
  float* bias;       // per group, output channels rounded up
  int32_t* offsets;  // [taps of all phases, input channel]
  PlanarCopies loads, stores;
};

// Scratch of one thread.
struct PlanarScratch {
  float* planes;
  float* results;  // [column phase, output channel rounded up, out_floats]
};

// Output channels are computed a few at a time; this is the largest rounded-up count of any vector
// target.
inline int planar_out_channels(const ConvPlan& plan) {
  return plan.group_out <= 4 ? plan.group_out : static_cast<int>(round_up(plan.group_out, 8));
}

// padded: output channels of a group, rounded up.
inline PlanarTables carve_planar_tables(Workspace& workspace, const ConvPlan& plan,
                                        const PlanarShape& shape, int padded) {
  const int64_t entries = static_cast<int64_t>(plan.tap_count) * plan.group_in;
  const int64_t channels = static_cast<int64_t>(plan.groups) * planar_out_channels(plan);
  PlanarTables tables{};
  tables.weights = workspace.take<float>(entries * channels);
  tables.bias = workspace.take<float>(channels);
  tables.offsets = workspace.take<int32_t>(entries);
  tables.loads = plan_loads(plan, shape, workspace);
  tables.stores = plan_stores(plan, shape, padded, workspace);
  return tables;
}

inline int planar_result_planes(const ConvPlan& plan) {
  return std::min(plan.out_column_step, plan.out_w) * planar_out_channels(plan);
}

inline PlanarScratch carve_planar_scratch(Workspace& workspace, const ConvPlan& plan,
                                          const PlanarShape& shape) {
  PlanarScratch scratch{};
  scratch.planes = workspace.take<float>(shape.planes * shape.plane_floats);
  scratch.results = workspace.take<float>(planar_result_planes(plan) * shape.out_floats);
  return scratch;
}

}  // namespace thimble::simd
