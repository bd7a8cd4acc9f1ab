// Images of other sizes.
#include <fmt/format.h>
#include <thimble/ops.h>

#include <algorithm>
#include <cmath>

#include "import/onnx/table.h"

namespace thimble::importer::onnx {
namespace {

struct Resizing {
  std::vector<int64_t> sizes;  // spatial
  std::vector<double> scales;  // spatial; from sizes where those are given
  bool by_size = false;
};

Resizing resizing_of(Node& node, size_t scales_input, size_t sizes_input) {
  const Shape image = node.shape(0);
  const auto rank = static_cast<size_t>(image.rank());
  std::vector<int64_t> axes = node.opset() >= 18 ? node.integers("axes") : std::vector<int64_t>();
  if (axes.empty()) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  }
  Resizing made;
  std::vector<double> scales(rank, 1.0);
  std::vector<int64_t> sizes = image.dims();
  made.by_size = node.has(sizes_input) && node.shape(sizes_input).elements() > 0;
  if (made.by_size) {
    const std::vector<int64_t> given = node.integers_of(sizes_input);
    node.require(given.size() == axes.size(), "expected a size for each axis");
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<size_t>(node.axis_of(axes[i], image.rank()));
      const bool is_batch = image.dims()[axis] == kBatch;
      node.require(is_batch || (given[i] >= 1 && given[i] < kBatch), "expected sizes above 0");
      if (is_batch) continue;
      sizes[axis] = given[i];
      scales[axis] = static_cast<double>(given[i]) / static_cast<double>(image.dims()[axis]);
    }
  } else {
    std::vector<double> given =
        node.has_attribute("scales") ? node.numbers("scales") : node.numbers_of(scales_input);
    node.require(given.size() == axes.size(), "expected a factor for each axis");
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<size_t>(node.axis_of(axes[i], image.rank()));
      node.require(given[i] > 0.0 && given[i] < 1e4, "expected factors above 0");
      scales[axis] = given[i];
      if (image.dims()[axis] == kBatch) continue;
      sizes[axis] =
          static_cast<int64_t>(std::floor(static_cast<double>(image.dims()[axis]) * given[i]));
    }
  }
  node.require(sizes[0] == image[0] && sizes[1] == image[1],
               "thimble resizes the spatial axes of images [N, C, ...] alone");
  made.sizes.assign(sizes.begin() + 2, sizes.end());
  made.scales.assign(scales.begin() + 2, scales.end());
  return made;
}

void resize_image(Node& node, const Resizing& to, Upsampling mode, bool align_corners) {
  const int rank = node.rank(0);
  const Order order = channels_last(rank);
  const Value x = node.value(0, order);
  Value y;
  if (rank == 3) {
    y = upsample1d(x, {.size = to.sizes[0],
                       .scale = align_corners || to.by_size ? 0.0 : to.scales[0],
                       .mode = mode,
                       .align_corners = align_corners});
  } else if (rank == 4) {
    Upsample2dOptions options{
        .size = {to.sizes[0], to.sizes[1]}, .mode = mode, .align_corners = align_corners};
    if (!align_corners && !to.by_size) {
      options.scale = to.scales[0];
      options.scale_w = to.scales[1];
    }
    y = upsample2d(x, options);
  } else {
    node.require(to.by_size || (to.scales[0] == to.scales[1] && to.scales[0] == to.scales[2]),
                 "expected one factor for a volume");
    y = upsample3d(x, {.size = to.sizes,
                       .scale = to.by_size || align_corners ? 0.0 : to.scales[0],
                       .mode = mode,
                       .align_corners = align_corners});
  }
  node.give(y, order);
}

bool all_whole(const Resizing& to) {
  return std::all_of(to.scales.begin(), to.scales.end(),
                     [](double s) { return s >= 1.0 && s == std::floor(s); });
}

void resize(Node& node) {
  const int rank = node.rank(0);
  node.require(rank >= 3 && rank <= 5, "expected images [N, C, ...]");
  const Resizing to = node.opset() >= 11 ? resizing_of(node, 2, 3) : resizing_of(node, 1, 99);
  const std::string mode = node.text("mode", "nearest");
  const std::string places =
      node.text("coordinate_transformation_mode", node.opset() >= 11 ? "half_pixel" : "asymmetric");
  node.require(node.integer("antialias", 0) == 0, "thimble has no antialiasing");
  node.require(node.integer("exclude_outside", 0) == 0, "thimble reads pixels of the border again");
  node.require(node.text("keep_aspect_ratio_policy", "stretch") == "stretch",
               "thimble stretches to the given size");
  if (mode == "nearest") {
    const std::string rounding = node.text("nearest_mode", "round_prefer_floor");
    if (places == "asymmetric" && rounding == "floor") {
      return resize_image(node, to, Upsampling::nearest, false);
    }
    // For whole factors the nearest pixel is the same one.
    if (all_whole(to) && ((places == "half_pixel" && rounding.starts_with("round")) ||
                          (places == "asymmetric" && rounding == "floor"))) {
      return resize_image(node, to, Upsampling::nearest, false);
    }
    if (places == "half_pixel" && rounding == "round_prefer_ceil") {
      return resize_image(node, to, Upsampling::nearest_exact, false);
    }
    node.fail(
        "thimble takes nearest pixels by asymmetric and floor, or by half_pixel and whole factors");
  }
  const Upsampling kind = mode == "linear" ? Upsampling::bilinear : Upsampling::bicubic;
  node.require(mode == "linear" || mode == "cubic", "its mode is not known");
  if (mode == "cubic") {
    node.require(std::abs(node.number("cubic_coeff_a", -0.75) + 0.75) < 1e-6,
                 "thimble's cubics have a coefficient of -0.75");
  }
  bool half = places == "half_pixel";
  if (places == "pytorch_half_pixel") {
    half = std::all_of(to.sizes.begin(), to.sizes.end(), [](int64_t size) { return size > 1; });
  }
  node.require(half || places == "align_corners",
               "thimble has coordinates by half_pixel or align_corners alone");
  if (!half && !to.by_size) {
    for (size_t i = 0; i < to.sizes.size(); ++i) {
      const double wanted =
          static_cast<double>(node.shape(0)[static_cast<int>(i) + 2]) * to.scales[i];
      node.require(std::abs(wanted - static_cast<double>(to.sizes[i])) < 1e-3,
                   "thimble aligns corners where the factors give whole sizes");
    }
  }
  resize_image(node, to, kind, !half);
}

void upsample(Node& node) {
  node.require(node.rank(0) >= 3 && node.rank(0) <= 5, "expected images [N, C, ...]");
  const Resizing to = resizing_of(node, 1, 99);
  node.require(node.text("mode", "nearest") == "nearest", "thimble has no such coordinates");
  resize_image(node, to, Upsampling::nearest, false);
}

void grid_sample_node(Node& node) {
  const int rank = node.rank(0);
  node.require(rank == 4 || rank == 5, "expected images or volumes");
  const std::string mode = node.text("mode", node.opset() >= 20 ? "linear" : "bilinear");
  const std::string padding = node.text("padding_mode", "zeros");
  GridSampleOptions options{.align_corners = node.integer("align_corners", 0) != 0};
  if (mode == "nearest") options.mode = GridMode::nearest;
  if (mode == "bicubic" || mode == "cubic") options.mode = GridMode::bicubic;
  if (padding == "border") options.padding = GridPadding::border;
  if (padding == "reflection") options.padding = GridPadding::reflection;
  const Order order = channels_last(rank);
  node.give(grid_sample(node.value(0, order), node.value(1), options), order);
}

void col2im(Node& node) {
  const std::vector<int64_t> size = node.integers_of(1);
  const std::vector<int64_t> kernel = node.integers_of(2);
  node.require(size.size() == 2 && kernel.size() == 2, "thimble folds images of two spatial axes");
  node.require(kernel[0] >= 1 && kernel[1] >= 1 && kernel[0] < kBatch && kernel[1] < kBatch,
               "its kernel is out of range");
  const auto list = [&](const char* name, size_t count, int64_t otherwise) {
    std::vector<int64_t> numbers = node.integers(name);
    if (numbers.empty()) numbers.assign(count, otherwise);
    node.require(numbers.size() == count, "expected a number for each axis");
    return numbers;
  };
  const std::vector<int64_t> stride = list("strides", 2, 1);
  const std::vector<int64_t> dilation = list("dilations", 2, 1);
  const std::vector<int64_t> pads = list("pads", 4, 0);
  // [N, C * kh * kw, places] as [N, places, kh * kw * C].
  const Value x = node.value(0);
  const int64_t taps = kernel[0] * kernel[1];
  node.require(x.shape().rank() == 3 && taps >= 1 && x.shape()[1] % taps == 0,
               "its sizes do not fit");
  const int64_t channels = x.shape()[1] / taps;
  Value rows = reshape(x, {x.shape()[0], channels, taps, x.shape()[2]});
  rows = reshape(transpose(rows, {0, 3, 2, 1}), {x.shape()[0], x.shape()[2], taps * channels});
  node.give(fold(rows, {.size = {size[0], size[1]},
                        .kernel = {kernel[0], kernel[1]},
                        .stride = {stride[0], stride[1]},
                        .padding = {pads[0], pads[2], pads[1], pads[3]},
                        .dilation = {dilation[0], dilation[1]}}),
            channels_last(4));
}

}  // namespace

void add_resizing(Conversions& table) {
  table["Resize"] = {resize, false};
  table["Upsample"] = {upsample, false};
  table["GridSample"] = {grid_sample_node, false};
  table["Col2Im"] = {col2im, false};
}

}  // namespace thimble::importer::onnx
