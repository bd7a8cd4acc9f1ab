#include <thimble/ops/max_pool2d.h>
#include <thimble/ops/max_pool3d.h>

#include "ir/graph.h"
#include "ops/families/builder/named_op.h"
#include "ops/families/conv/volume.h"

// Built from max_pool2d: there is no op of its own.
THIMBLE_OP_FOLDER(max_pool3d) { return {}; }

namespace thimble::ops::max_pool3d_impl {
namespace {

constexpr const char* kName = "max_pool3d";

// max_pool2d of every plane, then along the depth.
struct Poolings {
  MaxPool2dAttrs plane;
  MaxPool2dAttrs depth;
};

Poolings poolings_of(Value x, const MaxPool3dOptions& options) {
  check_volume(kName, x);
  const Triple kernel = triple(kName, "kernel", options.kernel, 1);
  const Triple stride =
      options.stride.empty() ? kernel : triple(kName, "stride", options.stride, 1);
  const Triple dilation = triple(kName, "dilation", options.dilation, 1);
  const VolumePadding padding = volume_padding(kName, options.padding);
  return {.plane = {.kernel = kernel.plane(),
                    .stride = stride.plane(),
                    .padding = padding.plane,
                    .dilation = dilation.plane(),
                    .ceil_mode = options.ceil_mode},
          .depth = {.kernel = {kernel.d, 1},
                    .stride = {stride.d, 1},
                    .padding = {padding.front, padding.back, 0, 0},
                    .dilation = {dilation.d, 1},
                    .ceil_mode = options.ceil_mode}};
}

}  // namespace
}  // namespace thimble::ops::max_pool3d_impl

namespace thimble {

Value max_pool3d(Value x, const MaxPool3dOptions& options) {
  const auto poolings = ops::max_pool3d_impl::poolings_of(x, options);
  const int64_t depth = x.shape()[1];
  return ops::named_op(ops::max_pool3d_impl::kName, [&] {
    const Value planes = max_pool2d(ops::planes_of(x), poolings.plane);
    const Value pooled = max_pool2d(ops::lines_of(planes, depth), poolings.depth);
    return ops::volume_of_columns(pooled, planes.shape());
  });
}

MaxPool3dResult max_pool3d_with_indices(Value x, const MaxPool3dOptions& options) {
  const auto poolings = ops::max_pool3d_impl::poolings_of(x, options);
  const Shape volume = x.shape();
  return ops::named_op(ops::max_pool3d_impl::kName, [&]() -> MaxPool3dResult {
    const MaxPool2dResult planes = max_pool2d_with_indices(ops::planes_of(x), poolings.plane);
    const MaxPool2dResult columns =
        max_pool2d_with_indices(ops::columns_of(planes.y, volume[1]), poolings.depth);
    return {ops::volume_of_columns(columns.y, planes.y.shape()),
            ops::volume_index(planes.index, columns.index, volume)};
  });
}

}  // namespace thimble
