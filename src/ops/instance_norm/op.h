#pragma once

#include <thimble/graph.h>

#include <string>

namespace thimble {

struct InstanceNormAttrs {
  double epsilon = 1e-5;  // added to the variance
};
void describe(InstanceNormAttrs& attrs, ir::FieldVisitor& visitor);

struct InstanceNormOptions {
  double momentum = 0.1;  // weight of a new batch in the running statistics, as in PyTorch
  double epsilon = 1e-5;
  bool affine = false;               // with a trained scale and shift
  bool track_running_stats = false;  // normalise by running statistics at inference
  std::string name;                  // of the layer; empty: instance_norm_1, instance_norm_2, ...
};

// An instance normalisation layer over the last dimension, the channels:
// y = (x - mean) / sqrt(variance + epsilon) * weight + bias with each channel's mean and (biased)
// variance over all positions of one image. With track_running_stats, training moves running
// statistics, running = (1 - momentum) * running + momentum * mean over images of the statistic
// (the unbiased variance), and inference normalises by them.
// x: [N, ..., C], f32; y: the shape of x. May add the parameters <name>.weight [C], first 1, and
// <name>.bias [C], first 0, and the states <name>.running_mean [C], first 0, and
// <name>.running_var [C], first 1. Source: Ulyanov, Vedaldi and Lempitsky, "Instance
// normalization", 2016. Errors: Error where x has fewer than two dimensions, or one position an
// image alone to take statistics of.
Value instance_norm(Value x, const InstanceNormOptions& options = {});

// The same with given parameters and statistics; creates none. gamma, beta: [C], or none;
// running_mean, running_var: [C], or both none. Training moves running statistics that are
// parameters (freeze them); others are only read, at inference. Layers that share them move them
// one after the other. Of the options momentum, epsilon and name count.
// Errors: Error as above, and where a shape is another one.
Value instance_norm(Value x, Value gamma, Value beta, Value running_mean, Value running_var,
                    const InstanceNormOptions& options = {});

}  // namespace thimble
