#include <thimble/ops/concat.h>
#include <thimble/ops/conv2d.h>
#include <thimble/ops/conv3d.h>
#include <thimble/ops/pad.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/slice.h>
#include <thimble/ops/transpose.h>
#include <thimble/ops/unfold.h>

#include <fmt/format.h>

#include "ir/sizes.h"
#include "ops/families/builder/layer.h"
#include "ops/families/builder/named_op.h"
#include "ops/families/conv/conv.h"
#include "ops/families/conv/volume.h"

// Built from conv2d: there is no op of its own.
THIMBLE_OP_FOLDER(conv3d) { return {}; }

namespace thimble::ops::conv3d_impl {
namespace {

constexpr const char* kName = "conv3d";

// The window along the depth.
struct Deep {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t front = 0;  // planes of zeros
  int64_t back = 0;
};

// For every position along the depth, the planes under the window concatenated as channels: [N, D,
// H, W, C] to [N * places, H, W, kd * C].
Value windows(Value x, const Deep& deep) {
  const std::vector<int64_t> dims = x.shape().dims();  // a copy: adding nodes moves shapes
  if (deep.kernel == 1 && deep.stride == 1 && deep.front == 0 && deep.back == 0) {
    return planes_of(x);
  }
  const Value cells = unfold(reshape(x, {-1, dims[1], dims[2] * dims[3], dims[4]}),
                             {.kernel = {deep.kernel, 1},
                              .stride = {deep.stride, 1},
                              .padding = {deep.front, deep.back, 0, 0},
                              .dilation = {deep.dilation, 1}});
  return reshape(cells, {-1, dims[2], dims[3], deep.kernel * dims[4]});
}

// The same with the planes concatenated within each group: [N * places, H, W, groups * (kd * C /
// groups)].
Value grouped_windows(Value x, const Deep& deep, int64_t places, int64_t groups) {
  if (deep.front > 0 || deep.back > 0) {
    x = pad(x, {.before = {0, deep.front, 0, 0, 0}, .after = {0, deep.back, 0, 0, 0}});
  }
  const std::vector<int64_t> dims = x.shape().dims();
  std::vector<Value> planes;
  for (int64_t t = 0; t < deep.kernel; ++t) {
    const int64_t first = t * deep.dilation;
    const Value taken = slice(x, 1, first, first + (places - 1) * deep.stride + 1, deep.stride);
    planes.push_back(reshape(taken, {-1, dims[2], dims[3], groups, dims[4] / groups}));
  }
  const Value all = planes.size() == 1 ? planes[0] : concat(planes, {.axis = 4});
  return reshape(all, {-1, dims[2], dims[3], deep.kernel * dims[4]});
}

void check_sizes(Value x, Value weight, int64_t groups) {
  check_volume(kName, x);
  const Shape& w = weight.shape();
  const int64_t channels = x.shape()[4];
  if (w.rank() != 5 || groups < 1 || w[0] % groups != 0 ||
      ir::bounded_product(w[4], groups) != channels) {
    throw Error(kName,
                fmt::format("expected weights [K, kd, kh, kw, C / groups] for the {} channels "
                            "of x and {} group(s), which divide K, got {}",
                            channels, groups, to_string(w)));
  }
}

}  // namespace
}  // namespace thimble::ops::conv3d_impl

namespace thimble {

Value conv3d(Value x, Value weight, Value bias, const Conv3dAttrs& attrs) {
  constexpr const char* kName = ops::conv3d_impl::kName;
  ops::conv3d_impl::check_sizes(x, weight, attrs.groups);
  const ops::Triple stride = ops::triple(kName, "stride", attrs.stride, 1);
  const ops::Triple dilation = ops::triple(kName, "dilation", attrs.dilation, 1);
  const ops::VolumePadding padding = ops::volume_padding(kName, attrs.padding);
  const std::vector<int64_t> w = weight.shape().dims();
  const int64_t depth = x.shape()[1] + padding.front + padding.back;
  const int64_t extent = dilation.d * (w[1] - 1) + 1;
  if (w[1] < 1 || extent > depth) {
    throw Error(kName,
                fmt::format("a window that covers {} planes does not fit a volume of {} with "
                            "its padding; pad more or make the window smaller",
                            extent, depth));
  }
  const int64_t places = (depth - extent) / stride.d + 1;
  const ops::conv3d_impl::Deep deep{w[1], stride.d, dilation.d, padding.front, padding.back};
  const Value planes = attrs.groups == 1
                           ? ops::conv3d_impl::windows(x, deep)
                           : ops::conv3d_impl::grouped_windows(x, deep, places, attrs.groups);
  const Value flat = reshape(w[1] == 1 ? weight : transpose(weight, {0, 2, 3, 1, 4}),
                             {w[0], w[2], w[3], w[1] * w[4]});
  return ops::named_op(kName, [&] {
    return ops::volume_of(conv2d(planes, flat, bias,
                                 {.stride = stride.plane(),
                                  .padding = padding.plane,
                                  .dilation = dilation.plane(),
                                  .groups = attrs.groups}),
                          places);
  });
}

Value conv3d(Value x, const Conv3dOptions& options) {
  constexpr const char* kName = ops::conv3d_impl::kName;
  ops::check_volume(kName, x);
  const Shape s = x.shape();
  const ops::Triple kernel = ops::triple(kName, "kernel", options.kernel, 1);
  ops::check_layer(kName, {s[0], s[2], s[3], s[4]}, options.channels, kernel.plane(),
                   options.groups);
  const ir::LayerScope layer(x.graph(), kName, options.name);
  const Shape shape{options.channels, kernel.d, kernel.h, kernel.w, s[4] / options.groups};
  const Value weight = ops::layer_parameter(layer, x, "weight", shape, options.weight_init);
  Value bias;
  if (options.bias) {
    bias = ops::layer_parameter(
        layer, x, "bias", {options.channels},
        ops::bias_rule(options.bias_init, shape.elements() / options.channels));
  }
  return conv3d(x, weight, bias,
                {.stride = options.stride,
                 .padding = options.padding,
                 .dilation = options.dilation,
                 .groups = options.groups});
}

}  // namespace thimble
