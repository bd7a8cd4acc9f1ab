#include <thimble/ops/add.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/gather.h>
#include <thimble/ops/max_pool2d.h>
#include <thimble/ops/max_pool3d.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/remainder.h>
#include <thimble/ops/reshape.h>

#include "ir/graph.h"
#include "ops/families/builder/compose.h"
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

// Pooled planes as images whose height is the depth and whose width is the pixels of a plane.
Value as_columns(Value planes, int64_t depth) {
  const Shape& s = planes.shape();
  return reshape(planes, {-1, depth, s[1] * s[2], s[3]});
}
// The reverse, for planes of this shape.
Value as_volumes(Value columns, const Shape& planes) {
  return reshape(columns, {-1, columns.shape()[1], planes[1], planes[2], planes[3]});
}

Value whole(Value like, int64_t number_) {
  return cast(number(like, static_cast<double>(number_)), DType::i32);
}

}  // namespace
}  // namespace thimble::ops::max_pool3d_impl

namespace thimble {

Value max_pool3d(Value x, const MaxPool3dOptions& options) {
  const auto poolings = ops::max_pool3d_impl::poolings_of(x, options);
  const int64_t depth = x.shape()[1];
  return ops::named_op(ops::max_pool3d_impl::kName, [&] {
    const Value planes = max_pool2d(ops::planes_of(x), poolings.plane);
    const Value columns =
        max_pool2d(ops::max_pool3d_impl::as_columns(planes, depth), poolings.depth);
    return ops::max_pool3d_impl::as_volumes(columns, planes.shape());
  });
}

MaxPool3dResult max_pool3d_with_indices(Value x, const MaxPool3dOptions& options) {
  const auto poolings = ops::max_pool3d_impl::poolings_of(x, options);
  const Shape volume = x.shape();
  return ops::named_op(ops::max_pool3d_impl::kName, [&]() -> MaxPool3dResult {
    const MaxPool2dResult planes = max_pool2d_with_indices(ops::planes_of(x), poolings.plane);
    const Shape plane = planes.y.shape();
    const int64_t pixels = plane[1] * plane[2];
    const MaxPool2dResult columns = max_pool2d_with_indices(
        ops::max_pool3d_impl::as_columns(planes.y, volume[1]), poolings.depth);
    // The index along the depth counts pooled pixels of all planes, which locates the plane's own
    // index.
    const Value at = reshape(columns.index, {-1, columns.index.shape()[1] * pixels, plane[3]});
    const Value own =
        gather(reshape(planes.index, {-1, volume[1] * pixels, plane[3]}), at, {.axis = 1});
    const Value plane_number = floor_divide(at, ops::max_pool3d_impl::whole(x, pixels));
    const Value index =
        add(own, mul(plane_number, ops::max_pool3d_impl::whole(x, volume[2] * volume[3])));
    return {ops::max_pool3d_impl::as_volumes(columns.y, plane),
            reshape(index, {-1, columns.y.shape()[1], plane[1], plane[2], plane[3]})};
  });
}

}  // namespace thimble
