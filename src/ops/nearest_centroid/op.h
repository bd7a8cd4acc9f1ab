#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <string>

namespace thimble {

// How near the rows of x lie to the mean of each class: y[n, c] = -|x[n] - sums[c] / counts[c]|^2,
// and minus infinity for a class without samples. x: [N, D], sums: [C, D], counts: [C], f32; y:
// [N, C]. No gradient flows through it. Throws Error where the shapes do not fit.
Value nearest_centroid(Value x, Value sums, Value counts);

struct NearestCentroidOptions {
  int64_t classes = 0;  // must be set
  std::string name;     // of the layer; empty: nearest_centroid_1, ...
};
void describe(NearestCentroidOptions& options, ir::OptionVisitor& visitor);

// A classifier head that learns a class from a few samples without gradients: training adds each
// row of x to its class (one pass over the samples is enough), and the scores are those of
// nearest_centroid, the largest for the nearest mean. Further samples and classes may come at any
// time. x: [N, D], f32, features of a network that no longer changes; labels: [N], i32, of which
// those that are no class are left out; y: [N, classes]. Adds the states <name>.sums [classes, D]
// and <name>.counts [classes], first 0. Source: Mensink et al., "Distance-based image
// classification", 2013 (nearest class mean). Errors: Error where the shapes do not fit.
Value nearest_centroid(Value x, Value labels, const NearestCentroidOptions& options);

}  // namespace thimble
