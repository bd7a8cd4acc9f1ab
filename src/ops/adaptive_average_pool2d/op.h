#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

struct AdaptiveAveragePool2dOptions {
  Pair size = 1;  // height and width of the result; 0: as x
};
void describe(AdaptiveAveragePool2dOptions& options, ir::FieldVisitor& visitor);

// Means over windows that divide an image of any size as evenly as possible: position i of P along
// a side covers the pixels from floor(i * H / P) to ceil((i + 1) * H / P), the last one excluded.
// x: [N, H, W, C], f32; y: [N, P, Q, C]. Equal to average_pool2d where P and Q divide H and W, and
// to torch.nn.functional.adaptive_avg_pool2d. Errors: Error for sizes below 0 and for empty images.
Value adaptive_average_pool2d(Value x, const AdaptiveAveragePool2dOptions& options = {});

struct AdaptiveAveragePool1dOptions {
  int64_t size = 1;  // length of the result; 0: as x
};

// adaptive_average_pool2d on sequences. x: [N, L, C]; y: [N, Q, C].
Value adaptive_average_pool1d(Value x, const AdaptiveAveragePool1dOptions& options = {});

struct AdaptiveAveragePool3dOptions {
  std::vector<int64_t> size = {1};  // of the result: one number, or three; 0: as x
};

// Along the depth by adaptive_average_pool1d, then every plane by adaptive_average_pool2d. x: [N,
// D, H, W, C]; y: [N, O, P, Q, C]. Equal to torch.nn.functional.adaptive_avg_pool3d.
Value adaptive_average_pool3d(Value x, const AdaptiveAveragePool3dOptions& options = {});

}  // namespace thimble
