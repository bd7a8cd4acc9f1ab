// Pooling of images [N, ..., C].
#include <thimble/ops.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "import/onnx/steps.h"
#include "import/onnx/table.h"
#include "import/onnx/windows.h"

namespace thimble::importer::onnx {
namespace {

// Pads the spatial axes of an image, so that a window needs no padding of its own.
Value padded(Value x, Window& w, double value) {
  PadOptions options{.before = {0}, .after = {0}, .value = value};
  options.before.insert(options.before.end(), w.before.begin(), w.before.end());
  options.after.insert(options.after.end(), w.after.begin(), w.after.end());
  options.before.push_back(0);
  options.after.push_back(0);
  std::fill(w.before.begin(), w.before.end(), 0);
  std::fill(w.after.begin(), w.after.end(), 0);
  return pad(x, options);
}

bool is_padded(const Window& w) {
  return std::any_of(w.before.begin(), w.before.end(), [](int64_t n) { return n > 0; }) ||
         std::any_of(w.after.begin(), w.after.end(), [](int64_t n) { return n > 0; });
}

// Positions within each image as positions within all images, channels first.
Value whole_index(Node& node, Value index, const Shape& image) {
  int64_t size = 1;
  for (const int64_t dim : spatial(image)) size *= dim;
  node.require(image[0] % kBatch != 0 || image[0] == 0,
               "positions of maxima depend on the batch size, which is left open");
  node.require(image[0] * image[1] <= int64_t{1} << 24, "it has too many images for positions");
  std::vector<int64_t> first;
  for (int64_t n = 0; n < image[0]; ++n) {
    for (int64_t c = 0; c < image[1]; ++c) first.push_back((n * image[1] + c) * size);
  }
  std::vector<int64_t> dims(static_cast<size_t>(image.rank()), 1);
  dims.front() = image[0];
  dims.back() = image[1];
  Item offsets;
  offsets.known = Array(std::move(first), Shape(dims));
  return add(cast(index, DType::i64), node.importer().value(offsets));
}

void max_pool(Node& node) {
  const Shape image = node.shape(0);
  node.require(image.rank() >= 3 && image.rank() <= 5, "expected one to three spatial axes");
  Window w = window_of(node, spatial(image), {});
  const Order order = channels_last(image.rank());
  Value x = node.value(0, order);
  const bool ceil_mode = node.integer("ceil_mode", 0) != 0;
  const bool indexed = node.gives(1);
  node.require(!indexed || node.integer("storage_order", 0) == 0,
               "thimble has no positions counted by columns");
  const DType dtype = x.dtype();
  if (dtype == DType::u8) x = cast(x, DType::f32);
  Value y;
  Value index;
  if (image.rank() == 3) {
    const MaxPool1dOptions options{.kernel = w.kernel[0],
                                   .stride = w.stride[0],
                                   .padding = padding_of(w),
                                   .dilation = w.dilation[0],
                                   .ceil_mode = ceil_mode};
    if (indexed) {
      const MaxPool1dResult both = max_pool1d_with_indices(x, options);
      y = both.y;
      index = both.index;
    } else {
      y = max_pool1d(x, options);
    }
  } else if (image.rank() == 4) {
    const MaxPool2dAttrs options{.kernel = {w.kernel[0], w.kernel[1]},
                                 .stride = {w.stride[0], w.stride[1]},
                                 .padding = padding_of(w),
                                 .dilation = {w.dilation[0], w.dilation[1]},
                                 .ceil_mode = ceil_mode};
    if (indexed) {
      const MaxPool2dResult both = max_pool2d_with_indices(x, options);
      y = both.y;
      index = both.index;
    } else {
      y = max_pool2d(x, options);
    }
  } else {
    node.require(!indexed || w.before == w.after, "expected as much padding before as after");
    if (w.before != w.after) x = padded(x, w, -std::numeric_limits<double>::infinity());
    const MaxPool3dOptions options{.kernel = w.kernel,
                                   .stride = w.stride,
                                   .padding = w.before,
                                   .dilation = w.dilation,
                                   .ceil_mode = ceil_mode};
    if (indexed) {
      const MaxPool3dResult both = max_pool3d_with_indices(x, options);
      y = both.y;
      index = both.index;
    } else {
      y = max_pool3d(x, options);
    }
  }
  node.give(as_type(y, dtype), order);
  if (indexed) node.give(1, whole_index(node, index, image), order);
}

void average_pool(Node& node) {
  const Shape image = node.shape(0);
  node.require(image.rank() >= 3 && image.rank() <= 5, "expected one to three spatial axes");
  Window w = window_of(node, spatial(image), {});
  for (const int64_t dilation : w.dilation) {
    node.require(dilation == 1, "thimble has no average pooling with dilation");
  }
  const Order order = channels_last(image.rank());
  Value x = node.value(0, order);
  const bool ceil_mode = node.integer("ceil_mode", 0) != 0;
  const bool counts = node.integer("count_include_pad", 0) != 0;
  Value y;
  if (image.rank() == 3) {
    y = average_pool1d(x, {.kernel = w.kernel[0],
                           .stride = w.stride[0],
                           .padding = padding_of(w),
                           .count_include_pad = counts,
                           .ceil_mode = ceil_mode});
  } else if (image.rank() == 4) {
    y = average_pool2d(x, {.kernel = {w.kernel[0], w.kernel[1]},
                           .stride = {w.stride[0], w.stride[1]},
                           .padding = padding_of(w),
                           .count_include_pad = counts,
                           .ceil_mode = ceil_mode});
  } else {
    if (w.before != w.after) {
      node.require(counts && !ceil_mode, "expected as much padding before as after");
      x = padded(x, w, 0.0);
    }
    y = average_pool3d(x, {.kernel = w.kernel,
                           .stride = w.stride,
                           .padding = w.before,
                           .count_include_pad = counts,
                           .ceil_mode = ceil_mode});
  }
  node.give(y, order);
}

std::vector<int64_t> spatial_axes(int rank) {
  std::vector<int64_t> axes;
  for (int64_t i = 1; i < rank - 1; ++i) axes.push_back(i);
  return axes;
}

template <Value (*whole_image)(Value), Value (*reduced)(Value, const ReduceOptions&)>
void global_pool(Node& node) {
  const int rank = node.rank(0);
  node.require(rank >= 3, "expected images [N, C, ...]");
  const Order order = channels_last(rank);
  const Value x = node.value(0, order);
  // Between integers the mean of an image takes any scale; a pool keeps that of its input.
  if (rank == 4 && !steps_of_reader(node)) {
    const Shape shape{x.shape()[0], 1, 1, x.shape()[3]};
    node.give(reshape(whole_image(x), shape), order);
  } else {
    node.give(reduced(x, {.axes = spatial_axes(rank), .keepdims = true}), order);
  }
}

void lp_pool(Node& node) {
  const Shape image = node.shape(0);
  node.require(image.rank() == 3 || image.rank() == 4,
               "thimble has power pooling of one or two axes");
  Window w = window_of(node, spatial(image), {});
  for (const int64_t dilation : w.dilation) {
    node.require(dilation == 1, "thimble has no power pooling with dilation");
  }
  const Order order = channels_last(image.rank());
  Value x = abs(node.value(0, order));
  if (is_padded(w)) x = padded(x, w, 0.0);
  if (image.rank() == 3) {
    x = reshape(x, {x.shape()[0], 1, x.shape()[1], x.shape()[2]});
    for (auto* list : {&w.kernel, &w.stride}) list->insert(list->begin(), 1);
  }
  Value y = lp_pool2d(x, {.p = static_cast<double>(node.integer("p", 2)),
                          .kernel = {w.kernel[0], w.kernel[1]},
                          .stride = {w.stride[0], w.stride[1]},
                          .ceil_mode = node.integer("ceil_mode", 0) != 0});
  if (image.rank() == 3) y = reshape(y, {y.shape()[0], y.shape()[2], y.shape()[3]});
  node.give(y, order);
}

void global_lp_pool(Node& node) {
  const int rank = node.rank(0);
  node.require(rank >= 3, "expected images [N, C, ...]");
  const Order order = channels_last(rank);
  node.give(norm(node.value(0, order), {.axes = spatial_axes(rank),
                                        .keepdims = true,
                                        .p = static_cast<double>(node.integer("p", 2))}),
            order);
}

}  // namespace

void add_pooling(Conversions& table) {
  table["MaxPool"] = {max_pool, false};
  table["AveragePool"] = {average_pool, false};
  table["LpPool"] = {lp_pool, false};
  table["GlobalAveragePool"] = {global_pool<global_average_pool2d, mean>, false};
  table["GlobalMaxPool"] = {global_pool<global_max_pool2d, max>, false};
  table["GlobalLpPool"] = {global_lp_pool, false};
}

}  // namespace thimble::importer::onnx
