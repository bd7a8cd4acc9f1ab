#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct AdaptiveAveragePool2dOptions {
  Pair size = 1;  // height and width of the result; 0: as x
};

// Means over windows that divide an image of any size as evenly as they can: place i of a side of P
// covers the cells floor(i * H / P) to ceil((i + 1) * H / P), the last not included.
// x: [N, H, W, C], f32; y: [N, P, Q, C]. It is average_pool2d where P and Q divide H and W.
// Equal to torch.nn.functional.adaptive_avg_pool2d. Errors: Error for sizes below 0, empty images.
Value adaptive_average_pool2d(Value x, const AdaptiveAveragePool2dOptions& options = {});

struct AdaptiveAveragePool1dOptions {
  int64_t size = 1;  // length of the result; 0: as x
};

// The same on sequences. x: [N, L, C]; y: [N, Q, C].
Value adaptive_average_pool1d(Value x, const AdaptiveAveragePool1dOptions& options = {});

}  // namespace thimble
