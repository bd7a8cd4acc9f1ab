#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct AdaptiveMaxPool2dOptions {
  Pair size = 1;  // height and width of the result; 0: as x
};

// The largest value of windows that divide an image of any size as evenly as they can, as those of
// adaptive_average_pool2d; NaN where the window holds one. x: [N, H, W, C], f32; y: [N, P, Q, C].
// It is max_pool2d where P and Q divide H and W; else training keeps the place of each maximum,
// four bytes an output. Of equal values the first gets the gradient. Equal to
// torch.nn.functional.adaptive_max_pool2d. Errors: Error for sizes below 0, empty images.
Value adaptive_max_pool2d(Value x, const AdaptiveMaxPool2dOptions& options = {});

struct AdaptiveMaxPoolResult {
  Value y;
  Value index;  // where the largest values stood: row * W + column, i32
};

// adaptive_max_pool2d and where in the image the largest values stood, both [N, P, Q, C].
AdaptiveMaxPoolResult adaptive_max_pool2d_with_indices(
    Value x, const AdaptiveMaxPool2dOptions& options = {});

struct AdaptiveMaxPool1dOptions {
  int64_t size = 1;  // length of the result; 0: as x
};

// The same on sequences. x: [N, L, C]; y: [N, Q, C].
Value adaptive_max_pool1d(Value x, const AdaptiveMaxPool1dOptions& options = {});

AdaptiveMaxPoolResult adaptive_max_pool1d_with_indices(
    Value x, const AdaptiveMaxPool1dOptions& options = {});

}  // namespace thimble
