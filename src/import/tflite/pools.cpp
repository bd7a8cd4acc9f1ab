// Pools, resizing and normalisation of images.
#include <thimble/ops.h>

#include <cmath>

#include "import/tflite/node.h"

namespace thimble::tflite {
namespace {

struct Window {
  Pair kernel;
  Pair stride;
  thimble::Padding padding;
};

Window window_of(const Node& node, const Pool2DOptions& o) {
  if (o.filter_height() < 1 || o.filter_width() < 1 || o.stride_h() < 1 || o.stride_w() < 1) {
    node.fail("expected a window and a stride of 1 or more");
  }
  if (o.padding() != Padding_SAME && o.padding() != Padding_VALID) {
    node.fail(fmt::format("there is no padding {}", int{o.padding()}));
  }
  return {{o.filter_height(), o.filter_width()},
          {o.stride_h(), o.stride_w()},
          o.padding() == Padding_SAME ? thimble::Padding::same() : thimble::Padding(0)};
}

void give_pooled(Node& node, const Value& y, ActivationFunction function) {
  if (!node.is_int8()) return node.give(activated(node, y, function));
  const Activation bounds = bounds_of(node, function);
  node.give(bounds == Activation::none ? y : node.clamped(y, bounds));
}

void average_pool_2d(Node& node) {
  const auto& o = node.options<Pool2DOptions>(BuiltinOptions_Pool2DOptions);
  const Window w = window_of(node, o);
  const Value x = node.input(0);
  const Value y = node.is_int8()
                      ? quantized_average_pool2d(x, {.kernel = w.kernel,
                                                     .stride = w.stride,
                                                     .padding = w.padding,
                                                     .count_include_pad = false,
                                                     .requantization = Requantization::fixed_point})
                      : average_pool2d(x, {.kernel = w.kernel,
                                           .stride = w.stride,
                                           .padding = w.padding,
                                           .count_include_pad = false});
  give_pooled(node, y, o.activation());
}

void max_pool_2d(Node& node) {
  const auto& o = node.options<Pool2DOptions>(BuiltinOptions_Pool2DOptions);
  const Window w = window_of(node, o);
  give_pooled(
      node,
      max_pool2d(node.input(0), {.kernel = w.kernel, .stride = w.stride, .padding = w.padding}),
      o.activation());
}

Value resized(const Node& node, const Value& x, Upsampling mode, bool align_corners) {
  const Shape& size = node.result().shape;
  if (size.rank() != 4) node.fail("expected images [N, H, W, C]");
  return upsample2d(x, {.size = {size[1], size[2]}, .mode = mode, .align_corners = align_corners});
}

void resize_bilinear(Node& node) {
  const auto& o = node.options<ResizeBilinearOptions>(BuiltinOptions_ResizeBilinearOptions);
  if (!o.align_corners() && !o.half_pixel_centers()) {
    node.fail("thimble resizes with half_pixel_centers or align_corners alone");
  }
  node.give(resized(node, node.input(0), Upsampling::bilinear, o.align_corners()));
}

void resize_nearest(Node& node) {
  const auto* const o =
      node.options_if<ResizeNearestNeighborOptions>(BuiltinOptions_ResizeNearestNeighborOptions);
  if (o != nullptr && o->align_corners()) {
    node.fail("thimble takes the nearest pixel without align_corners alone");
  }
  const bool centers = o != nullptr && o->half_pixel_centers();
  node.give(resized(node, node.input(0), centers ? Upsampling::nearest_exact : Upsampling::nearest,
                    false));
}

void local_response_norm(Node& node) {
  const auto& o = node.options<LocalResponseNormalizationOptions>(
      BuiltinOptions_LocalResponseNormalizationOptions);
  if (o.radius() < 1 || o.radius() > (1 << 20)) node.fail("expected a radius of 1 or more");
  const int64_t size = 2 * int64_t{o.radius()};  // the kernels leave out channel c + radius
  node.give(thimble::local_response_norm(
      node.input(0), {.size = size,
                      .alpha = static_cast<double>(o.alpha()) * static_cast<double>(size),
                      .beta = static_cast<double>(o.beta()),
                      .k = static_cast<double>(o.bias())}));
}

// Of the sum of squares; the root of it bounds the norm.
constexpr double kLeastSquares = 1e-6;

void l2_normalization(Node& node) {
  if (node.is_int8()) node.fail("thimble has no such op of int8");
  node.give(normalize(node.input(0), {.axis = -1, .epsilon = std::sqrt(kLeastSquares)}));
}

}  // namespace

std::span<const Rule> pool_rules() {
  static const Rule rules[] = {
      {1, "AVERAGE_POOL_2D", average_pool_2d},
      {17, "MAX_POOL_2D", max_pool_2d},
      {11, "L2_NORMALIZATION", l2_normalization},
      {13, "LOCAL_RESPONSE_NORMALIZATION", local_response_norm},
      {23, "RESIZE_BILINEAR", resize_bilinear, 1},
      {97, "RESIZE_NEAREST_NEIGHBOR", resize_nearest, 1},
  };
  return rules;
}

}  // namespace thimble::tflite
