// Convolutions and transposed ones. Images are [N, ..., C] from here on.
#include <fmt/format.h>
#include <thimble/ops.h>

#include <algorithm>

#include "import/onnx/table.h"
#include "import/onnx/windows.h"

namespace thimble::importer::onnx {
namespace {

std::vector<int64_t> padding_of_volume(const Window& w) {
  std::vector<int64_t> all;
  for (size_t i = 0; i < w.before.size(); ++i) {
    all.push_back(w.before[i]);
    all.push_back(w.after[i]);
  }
  return all;
}

void conv(Node& node) {
  const Shape image = node.shape(0);
  const Shape kernel = node.shape(1);
  node.require(image.rank() >= 3 && image.rank() <= 5 && kernel.rank() == image.rank(),
               "expected images [N, C, ...] of one to three spatial axes and weights of as many");
  const Window w = window_of(node, spatial(image), spatial(kernel));
  const Order order = channels_last(image.rank());
  const Value x = node.value(0, order);
  const Value weight = node.value(1, order);
  const Value bias = node.optional(2);
  const int64_t groups = node.integer("group", 1);
  Value y;
  if (image.rank() == 3) {
    y = conv1d(x, weight, bias,
               {.stride = w.stride[0],
                .padding = padding_of(w),
                .dilation = w.dilation[0],
                .groups = groups});
  } else if (image.rank() == 4) {
    y = conv2d(x, weight, bias,
               {.stride = {w.stride[0], w.stride[1]},
                .padding = padding_of(w),
                .dilation = {w.dilation[0], w.dilation[1]},
                .groups = groups});
  } else {
    y = conv3d(x, weight, bias,
               {.stride = w.stride,
                .padding = padding_of_volume(w),
                .dilation = w.dilation,
                .groups = groups});
  }
  node.give(y, order);
}

void conv_transpose(Node& node) {
  const Shape image = node.shape(0);
  const Shape kernel = node.shape(1);
  node.require(kernel.rank() == image.rank(), "expected weights of as many axes as the image");
  node.require(image.rank() == 3 || image.rank() == 4,
               "thimble has transposed convolutions of one or two spatial axes alone");
  const std::vector<int64_t> sizes = spatial(image);
  const size_t axes = sizes.size();
  Window w;
  w.kernel = spatial(kernel);
  w.stride = per_axis(node, "strides", axes, 1);
  w.dilation = per_axis(node, "dilations", axes, 1);
  std::vector<int64_t> more = per_axis(node, "output_padding", axes, 0);
  const std::vector<int64_t> pads = per_axis(node, "pads", 2 * axes, 0);
  w.before.assign(pads.begin(), pads.begin() + static_cast<int64_t>(axes));
  w.after.assign(pads.begin() + static_cast<int64_t>(axes), pads.end());
  const std::string automatic = node.text("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  std::vector<int64_t> wanted = node.integers("output_shape");
  node.require(wanted.empty() || wanted.size() == axes, "expected a size for each spatial axis");
  if (same && wanted.empty()) {
    for (size_t i = 0; i < axes; ++i) wanted.push_back(sizes[i] * w.stride[i]);
  }
  if (automatic == "VALID") {
    w.before.assign(axes, 0);
    w.after.assign(axes, 0);
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    node.require(wanted[i] >= 1 && wanted[i] < kBatch, "expected sizes above 0");
    const int64_t all =
        w.stride[i] * (sizes[i] - 1) + more[i] + (w.kernel[i] - 1) * w.dilation[i] + 1 - wanted[i];
    if (all < 0) {
      // The result is larger than what windows reach.
      w.before[i] = w.after[i] = 0;
      more[i] -= all;
      continue;
    }
    w.before[i] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
    w.after[i] = all - w.before[i];
  }
  const Order order = channels_last(image.rank());
  const Value x = node.value(0, order);
  const Value weight = node.value(1, order);
  const Value bias = node.optional(2);
  const int64_t groups = node.integer("group", 1);
  // What lies beyond the windows is the bias alone.
  std::vector<int64_t> beyond(axes, 0);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t kept = std::min(more[i], w.after[i]);  // is cut off and added again
    w.after[i] -= kept;
    more[i] -= kept;
    beyond[i] = std::max<int64_t>(more[i] - (w.stride[i] - 1), 0);
    more[i] -= beyond[i];
  }
  const bool is_short = std::all_of(beyond.begin(), beyond.end(), [](int64_t n) { return n == 0; });
  const Value first_bias = is_short ? bias : Value();
  Value y;
  if (axes == 1) {
    y = conv_transpose1d(x, weight, first_bias,
                         {.stride = w.stride[0],
                          .padding = padding_of(w),
                          .output_padding = more[0],
                          .dilation = w.dilation[0],
                          .groups = groups});
  } else {
    y = conv_transpose2d(x, weight, first_bias,
                         {.stride = {w.stride[0], w.stride[1]},
                          .padding = padding_of(w),
                          .output_padding = {more[0], more[1]},
                          .dilation = {w.dilation[0], w.dilation[1]},
                          .groups = groups});
  }
  if (!is_short) {
    PadOptions wider{.before = std::vector<int64_t>(axes + 2, 0), .after = {0}};
    wider.after.insert(wider.after.end(), beyond.begin(), beyond.end());
    wider.after.push_back(0);
    y = pad(y, wider);
    if (bias) y = y + bias;
  }
  node.give(y, order);
}

}  // namespace

void add_convolutions(Conversions& table) {
  table["Conv"] = {conv, false};
  table["ConvTranspose"] = {conv_transpose, false};
}

}  // namespace thimble::importer::onnx
