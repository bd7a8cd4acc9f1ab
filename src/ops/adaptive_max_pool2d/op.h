#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble {

struct AdaptiveMaxPool2dOptions {
  Pair size = 1;  // height and width of the result; 0: as x
};
void describe(AdaptiveMaxPool2dOptions& options, ir::FieldVisitor& visitor);

// The maximum over windows that divide an image of any size as evenly as possible, as in
// adaptive_average_pool2d; NaN if the window contains one. x: [N, H, W, C], f32; y: [N, P, Q, C].
// Where P and Q divide H and W it is max_pool2d; else training keeps the position of each maximum,
// four bytes per output. Of equal values the first gets the gradient. Equal to
// torch.nn.functional.adaptive_max_pool2d. Errors: Error for sizes below 0 and for empty images.
Value adaptive_max_pool2d(Value x, const AdaptiveMaxPool2dOptions& options = {});

struct AdaptiveMaxPoolResult {
  Value y;
  Value index;  // positions of the maxima: row * W + column, i32
};

// adaptive_max_pool2d, and the positions of the maxima in the image; both [N, P, Q, C].
AdaptiveMaxPoolResult adaptive_max_pool2d_with_indices(
    Value x, const AdaptiveMaxPool2dOptions& options = {});

struct AdaptiveMaxPool1dOptions {
  int64_t size = 1;  // length of the result; 0: as x
};

// adaptive_max_pool2d on sequences. x: [N, L, C]; y: [N, Q, C].
Value adaptive_max_pool1d(Value x, const AdaptiveMaxPool1dOptions& options = {});

AdaptiveMaxPoolResult adaptive_max_pool1d_with_indices(
    Value x, const AdaptiveMaxPool1dOptions& options = {});

struct AdaptiveMaxPool3dOptions {
  std::vector<int64_t> size = {1};  // of the result: one number, or three; 0: as x
};

// adaptive_max_pool2d of every plane, then along the depth. x: [N, D, H, W, C]; y: [N, O, P, Q, C].
// Equal to torch.nn.functional.adaptive_max_pool3d. Errors: Error for sizes below 0 and for empty
// volumes.
Value adaptive_max_pool3d(Value x, const AdaptiveMaxPool3dOptions& options = {});

// Its index counts the volume: (depth * H + row) * W + column.
AdaptiveMaxPoolResult adaptive_max_pool3d_with_indices(
    Value x, const AdaptiveMaxPool3dOptions& options = {});

}  // namespace thimble
