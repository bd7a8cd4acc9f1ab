#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <string>

namespace thimble {

struct BatchNormAttrs {
  double momentum = 0.1;  // weight of a new batch in the running statistics, as in PyTorch
  double epsilon = 1e-5;  // added to the variance
  Activation activation = Activation::none;  // applied to the result
};
void describe(BatchNormAttrs& attrs, ir::FieldVisitor& visitor);

struct BatchNormOptions {
  double momentum = 0.1;
  double epsilon = 1e-5;
  bool affine = true;               // with a trained scale and shift
  bool track_running_stats = true;  // false: inference, too, uses the statistics of its batch
  // Running statistics are the means over all batches so far, whatever momentum is: PyTorch's
  // momentum=None.
  bool cumulative = false;
  // The running variance is moved by the biased variance of a batch, as in Keras.
  bool biased_running_variance = false;
  std::string name;  // of the layer; empty: batch_norm_1, batch_norm_2, ...
};

// A batch normalisation layer over the last dimension, the channels.
// Training: y = (x - mean) / sqrt(variance + epsilon) * weight + bias with each channel's mean and
// (biased) variance over the batch and all positions; then
// running = (1 - momentum) * running + momentum * statistic, with the unbiased variance.
// Inference: the same with the running statistics.
// x: [N, ..., C], f32; y: the shape of x. Adds the parameters <name>.weight [C], first 1, and
// <name>.bias [C], first 0, and the state <name>.running_mean [C], first 0, and
// <name>.running_var [C], first 1; where they are cumulative <name>.num_batches_tracked, a number,
// first 0; none where track_running_stats is false.
// Source: Ioffe and Szegedy, "Batch normalization", 2015. Errors: Error where x has fewer than two
// dimensions; when compiling a training step in which a channel has one value only.
Value batch_norm(Value x, const BatchNormOptions& options = {});

// The same with given parameters and statistics; creates none. gamma, beta: [C], or none;
// running_mean, running_var: [C], or both none. Training moves running statistics that are
// parameters (freeze them); others are only read, at inference. Layers that share them move them
// one after the other. Of the options momentum, epsilon,
// biased_running_variance and name count.
// Errors: Error as above, and where a shape is another one.
Value batch_norm(Value x, Value gamma, Value beta, Value running_mean, Value running_var,
                 const BatchNormOptions& options = {});

}  // namespace thimble
