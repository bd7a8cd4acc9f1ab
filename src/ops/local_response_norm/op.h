#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct LocalResponseNormOptions {
  int64_t size = 5;     // window of neighbouring channels; at least 1
  double alpha = 1e-4;  // weight of their mean square
  double beta = 0.75;   // exponent
  double k = 1.0;       // added to the mean square
};
void describe(LocalResponseNormOptions& options, ir::FieldVisitor& visitor);

// Local response normalisation across channels: y[.., c] = x[.., c] / s[.., c]^beta with
// s[.., c] = k + alpha / size * sum of x[.., j]^2 over the `size` channels j from c - size / 2 on;
// those that do not exist count as 0. x: [N, ..., C], f32; y: the shape of x. Training keeps x.
// Source: Krizhevsky, Sutskever and Hinton, "ImageNet classification with deep convolutional neural
// networks", 2012, with alpha / size as in PyTorch. Errors: Error where x has fewer than two
// dimensions or size is below 1.
Value local_response_norm(Value x, const LocalResponseNormOptions& options = {});

}  // namespace thimble
