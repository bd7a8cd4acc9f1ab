// How the planar weight gradient is split, and its scratch memory; see planar_weights-inl.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd/conv_weights.h"
#include "simd/planar.h"

namespace thimble::simd {

// The tasks of the shape (runs of images, bands of rows, strips) are divided among `partials` sums.
struct PlanarWeightSplit {
  int partials;
  int64_t tasks;  // per partial sum
};

inline PlanarWeightSplit split_planar_weights(const conv_dims& d, const PlanarShape& shape) {
  const int64_t tasks = shape.tasks();
  const int partials = weight_partials(d, d.groups, tasks);
  return {partials, divide_up(tasks, partials)};
}

// Scratch memory of one thread.
struct PlanarWeightScratch {
  float* planes;  // of x
  float* grads;   // of dy: [output channel, out_floats]
};

inline PlanarWeightScratch carve_planar_weight_scratch(Workspace& workspace, const ConvPlan& plan,
                                                       const PlanarShape& shape) {
  PlanarWeightScratch scratch{};
  scratch.planes = workspace.take<float>(shape.planes * shape.plane_floats);
  scratch.grads = workspace.take<float>(plan.group_out * shape.out_floats);
  return scratch;
}

}  // namespace thimble::simd
