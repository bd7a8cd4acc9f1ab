// Convolutions, pooling, and what else sees images.
#include <layer.h>
#include <thimble/ops/average_pool2d.h>
#include <thimble/ops/channel_shuffle.h>
#include <thimble/ops/conv2d.h>
#include <thimble/ops/conv_transpose2d.h>
#include <thimble/ops/max_pool2d.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/upsample2d.h>

#include <algorithm>

#include "ml_train/build.h"

namespace thimble::ml_train {
namespace {

using namespace ml::train;

constexpr Property kConv2d[] = {
    {"filters", Kind::positive, nullptr, "", 0, true},
    {"kernel_size", Kind::integers, nullptr, "", 2, true},
    {"stride", Kind::integers, "1,1", "", 2},
    {"padding", Kind::padding, "valid"},
    {"dilation", Kind::integers, "1,1", "", 2},
};

constexpr Property kConv1d[] = {
    {"filters", Kind::positive, nullptr, "", 0, true},
    {"kernel_size", Kind::positive, nullptr, "", 0, true},
    {"stride", Kind::positive, "1"},
    {"padding", Kind::padding, "valid", "causal"},
    {"dilation", Kind::positive, "1"},
};

// A window of kernel cells, `dilation` apart: how many cells it spans.
Pair span_of(const Pair& kernel, const Pair& dilation) {
  return {(kernel.h - 1) * dilation.h + 1, (kernel.w - 1) * dilation.w + 1};
}

// The padding of one axis whose result has ceil(size / stride) cells: the smaller half comes first.
std::pair<int64_t, int64_t> same_padding(int64_t size, int64_t span, int64_t stride) {
  const int64_t total =
      std::max<int64_t>(0, ((size + stride - 1) / stride - 1) * stride + span - size);
  return {total / 2, total - total / 2};
}

// Numbers as written; nothing for valid.
Padding given_padding(const std::string& text) {
  if (text == "valid") return {};
  std::vector<int64_t> n;
  for (const std::string& part : split_text(text, ',')) n.push_back(std::stoll(part));
  if (n.size() == 1) return {n[0], n[0], n[0], n[0]};
  if (n.size() == 2) return {n[0], n[0], n[1], n[1]};
  return {n[0], n[1], n[2], n[3]};
}

Padding padding_of(const LayerBuild& b, const Pair& span, const Pair& stride) {
  const std::string text = b.props.choice("padding");
  if (text != "same") return given_padding(text);
  const auto [top, bottom] = same_padding(b.dim().h, span.h, stride.h);
  const auto [left, right] = same_padding(b.dim().w, span.w, stride.w);
  return {top, bottom, left, right};
}

Pair pair_of(const LayerBuild& b, const char* key) {
  const std::vector<int64_t> numbers = b.props.integers(key);
  return {numbers[0], numbers[1]};
}

// The sizes of a window's results; fails where there are none.
Dim windows(const LayerBuild& b, int64_t channels, const Pair& span, const Pair& stride,
            const Padding& p) {
  const int64_t h = b.dim().h + p.top + p.bottom - span.h;
  const int64_t w = b.dim().w + p.left + p.right - span.w;
  b.require(h >= 0 && w >= 0, "the window of " + std::to_string(span.h) + "," +
                                  std::to_string(span.w) + " is larger than the padded input " +
                                  to_string(b.dim()));
  return {channels, h / stride.h + 1, w / stride.w + 1};
}

Value bias_of(LayerBuild& b, int64_t filters) {
  if (b.props.boolean("disable_bias")) return {};
  return b.weight({.name = "bias",
                   .dims = {1, filters, 1, 1},
                   .shape = {filters},
                   .initializer = "bias_initializer",
                   .decay = "bias_decay",
                   .regularizer = nullptr});
}

void build_convolution(LayerBuild& b, const Pair& kernel, const Pair& stride, const Pair& dilation,
                       const Padding& padding) {
  const int64_t filters = b.props.count("filters");
  const int64_t channels = b.dim().c;
  const Dim out = windows(b, filters, span_of(kernel, dilation), stride, padding);
  const Value filter = b.weight({.name = "filter",
                                 .dims = {filters, channels, kernel.h, kernel.w},
                                 .shape = {filters, kernel.h, kernel.w, channels},
                                 .order = {0, 2, 3, 1}});
  const Value bias = bias_of(b, filters);
  b.put_image(
      conv2d(b.image(), filter, bias, {.stride = stride, .padding = padding, .dilation = dilation}),
      out);
}

void build_conv2d(LayerBuild& b) {
  b.require_inputs(1, 1);
  const Pair kernel = pair_of(b, "kernel_size");
  const Pair stride = pair_of(b, "stride");
  const Pair dilation = pair_of(b, "dilation");
  build_convolution(b, kernel, stride, dilation, padding_of(b, span_of(kernel, dilation), stride));
}

void build_conv1d(LayerBuild& b) {
  b.require_inputs(1, 1);
  b.require(b.dim().h == 1, "expected an input of height 1, got " + to_string(b.dim()));
  const Pair kernel{1, b.props.count("kernel_size")};
  const Pair stride{1, b.props.count("stride")};
  const Pair dilation{1, b.props.count("dilation")};
  const std::string text = b.props.choice("padding");
  Padding padding;
  if (text == "causal") {
    padding = Padding(0, 0, span_of(kernel, dilation).w - 1, 0);
  } else if (text == "same") {
    const auto [left, right] = same_padding(b.dim().w, span_of(kernel, dilation).w, stride.w);
    padding = Padding(0, 0, left, right);
  } else {
    const std::vector<std::string> parts = split_text(text, ',');
    b.require(parts.size() <= 2, "padding is valid, same, causal, one number, or left,right");
    if (text != "valid") padding = Padding(0, 0, std::stoll(parts[0]), std::stoll(parts.back()));
  }
  build_convolution(b, kernel, stride, dilation, padding);
}

void build_conv2d_transpose(LayerBuild& b) {
  b.require_inputs(1, 1);
  const Dim in = b.dim();
  const int64_t filters = b.props.count("filters");
  const Pair kernel = pair_of(b, "kernel_size");
  const Pair stride = pair_of(b, "stride");
  const Pair dilation = pair_of(b, "dilation");
  const Pair span = span_of(kernel, dilation);
  // As of a convolution of these images: the result is stride times as large where the stride
  // divides the image.
  const Padding padding = padding_of(b, span, stride);
  const Dim out{filters, (in.h - 1) * stride.h + span.h - padding.top - padding.bottom,
                (in.w - 1) * stride.w + span.w - padding.left - padding.right};
  b.require(out.h >= 1 && out.w >= 1, "padding cuts off the whole result");
  const Value filter = b.weight({.name = "filter",
                                 .dims = {filters, in.c, kernel.h, kernel.w},
                                 .shape = {in.c, kernel.h, kernel.w, filters},
                                 .order = {1, 2, 3, 0}});
  const Value bias = bias_of(b, filters);
  b.put_image(conv_transpose2d(b.image(), filter, bias,
                               {.stride = stride, .padding = padding, .dilation = dilation}),
              out);
}

constexpr Property kPooling2d[] = {
    {"pooling", Kind::choice, nullptr, "max average global_max global_average", 0, true},
    {"pool_size", Kind::integers, nullptr, "", 2},
    {"stride", Kind::integers, "1,1", "", 2},
    {"padding", Kind::padding, "valid"},
};

void build_pooling2d(LayerBuild& b) {
  b.require_inputs(1, 1);
  const std::string pooling = b.props.choice("pooling");
  const int64_t c = b.dim().c;
  if (pooling.starts_with("global")) {
    for (const char* key : {"pool_size", "stride", "padding"})
      b.require(!b.props.given(key), std::string(key) + " is not for global pooling");
    const Value y =
        pooling == "global_max" ? global_max_pool2d(b.image()) : global_average_pool2d(b.image());
    b.put_plain(reshape(y, {-1, c, 1, 1}), {c, 1, 1});
    return;
  }
  b.require(b.props.given("pool_size"), "the property pool_size is missing");
  const Pair size = pair_of(b, "pool_size");
  const Pair stride = pair_of(b, "stride");
  const Padding padding = padding_of(b, size, stride);
  const Dim out = windows(b, c, size, stride, padding);
  const Value y =
      pooling == "max"
          ? max_pool2d(b.image(), {.kernel = size, .stride = stride, .padding = padding})
          : average_pool2d(
                b.image(),
                {.kernel = size, .stride = stride, .padding = padding, .count_include_pad = false});
  b.put_image(y, out);
}

constexpr Property kUpsample2d[] = {
    {"upsample", Kind::choice, "nearest", "nearest bilinear"},
    {"kernel_size", Kind::integers, nullptr, "", 2, true},
};

void build_upsample2d(LayerBuild& b) {
  b.require_inputs(1, 1);
  const Dim in = b.dim();
  const Pair factor = pair_of(b, "kernel_size");
  const Dim out{in.c, in.h * factor.h, in.w * factor.w};
  const auto mode =
      b.props.choice("upsample") == "bilinear" ? Upsampling::bilinear : Upsampling::nearest;
  b.put_image(upsample2d(b.image(), {.size = {out.h, out.w}, .mode = mode}), out);
}

constexpr Property kShuffle[] = {{"split_number", Kind::positive, nullptr, "", 0, true}};

void build_channel_shuffle(LayerBuild& b) {
  b.require_inputs(1, 1);
  const int64_t groups = b.props.count("split_number");
  b.require(b.dim().c % groups == 0,
            "split_number does not divide the " + std::to_string(b.dim().c) + " channels");
  b.put_image(channel_shuffle(b.image(), {.groups = groups}), b.dim());
}

}  // namespace

void add_convolution_layers(std::vector<LayerKind>& kinds) {
  kinds.insert(kinds.end(),
               {{"conv2d", LAYER_CONV2D, {kConv2d, weight_properties()}, build_conv2d},
                {"conv1d", LAYER_CONV1D, {kConv1d, weight_properties()}, build_conv1d},
                {"conv2dtranspose",
                 LAYER_CONV2D_TRANSPOSE,
                 {kConv2d, weight_properties()},
                 build_conv2d_transpose},
                {"pooling2d", LAYER_POOLING2D, {kPooling2d}, build_pooling2d},
                {"upsample2d", LAYER_UPSAMPLE2D, {kUpsample2d}, build_upsample2d},
                {"channel_shuffle", LAYER_CHANNEL_SHUFFLE, {kShuffle}, build_channel_shuffle}});
}

}  // namespace thimble::ml_train
