#include "ops/families/quantized/device_work.h"

#include <algorithm>
#include <iterator>

#include "ops/families/quantized/conv_micro_dims.h"
#include "ops/families/quantized/sum_dims.h"
#include "ops/quantized_conv2d/dims.h"
#include "ops/quantized_conv2d_input_grad/dims.h"
#include "ops/quantized_conv2d_rows/dims.h"
#include "ops/quantized_conv2d_weight_grad/dims.h"
#include "ops/quantized_dense/dims.h"

namespace thimble::ops {
namespace {

// Pixels that are computed together.
constexpr int64_t kPixels = QUANTIZED_MICRO_PIXELS;

bool is_depthwise(const conv_dims& d) { return d.groups > 1 && d.groups == d.c && d.c == d.k; }

double products_of(const conv_dims& d) {
  return double(d.n) * d.p * d.q * d.k * d.r * d.s * (d.c / d.groups);
}

DeviceLoop loop_of(const conv_dims& d, const quantized_result& out, bool has_mask) {
  const bool is_bounded = out.fixed_point != 0 || out.low > INT8_MIN || out.high < INT8_MAX;
  if (is_depthwise(d)) return is_bounded ? DeviceLoop::plain_depthwise : DeviceLoop::depthwise;
  // Bits of a mask are set by the byte.
  const int multiple = has_mask ? 8 : 4;
  const bool has_tiles =
      d.groups == 1 && d.k % multiple == 0 && d.r * d.s * d.c <= QUANTIZED_MICRO_TAPS;
  if (is_bounded || !has_tiles) return DeviceLoop::plain;
  return int64_t{d.n} * d.p * d.q < kPixels ? DeviceLoop::rows : DeviceLoop::tiles;
}

DeviceLoop input_grad_loop(const conv_dims& d) {
  if (is_depthwise(d)) {
    const bool keeps_size = d.stride_h == 1 && d.stride_w == 1 && d.h == d.p && d.w == d.q;
    // A channel is copied with an edge of zeros.
    const int64_t pitch = (int64_t{d.w} + 3) / 4 * 4 + d.s - 1;
    const bool fits = (int64_t{d.h} + d.r - 1) * pitch <= QUANTIZED_KEPT_NUMBERS;
    return keeps_size && !fits ? DeviceLoop::plain_depthwise : DeviceLoop::depthwise;
  }
  const bool is_pixel = d.r == 1 && d.s == 1 && d.stride_h == 1 && d.stride_w == 1 &&
                        d.groups == 1 && d.h == d.p && d.w == d.q;
  if (!is_pixel) return DeviceLoop::plain;
  return int64_t{d.n} * d.h * d.w < kPixels ? DeviceLoop::rows : DeviceLoop::tiles;
}

DeviceLoop weight_grad_loop(const conv_dims& d) {
  constexpr int kLeastTaps = 9;  // of a row of the window, so that few are left beside tiles
  if (is_depthwise(d)) return DeviceLoop::plain_depthwise;
  const bool has_tiles = d.groups == 1 && d.dilation_w == 1 && d.k >= 4 && d.s * d.c >= kLeastTaps;
  if (!has_tiles) return DeviceLoop::plain;
  return d.r * d.s == 1 ? DeviceLoop::tiles : DeviceLoop::rows;  // a row of a window at a time
}

void add(DeviceWork& work, DeviceLoop loop, double products, double results) {
  DeviceWork::Part& part = work.parts[static_cast<size_t>(loop)];
  part.products += products;
  part.results += results;
}

void add_convolution(DeviceWork& work, const quantized_conv2d_dims& dims, bool has_mask) {
  const conv_dims& d = dims.conv;
  add(work, loop_of(d, dims.out, has_mask), products_of(d), double(d.n) * d.p * d.q * d.k);
}

template <bool has_mask>
std::optional<DeviceWork> convolution(const ir::Params& params) {
  DeviceWork work;
  add_convolution(work, params.as<quantized_conv2d_dims>(), has_mask);
  return work;
}

template <bool has_mask>
std::optional<DeviceWork> dense(const ir::Params& params) {
  const auto d = params.as<quantized_dense_dims>();
  quantized_conv2d_dims one{};
  one.out = d.out;
  one.conv.n = one.conv.h = one.conv.p = one.conv.r = one.conv.s = one.conv.groups = 1;
  one.conv.w = one.conv.q = d.rows;
  one.conv.c = d.features;
  one.conv.k = d.units;
  DeviceWork work;
  add_convolution(work, one, has_mask);
  return work;
}

std::optional<DeviceWork> chain(const ir::Params& params) {
  const auto d = params.as<quantized_conv2d_rows_dims>();
  DeviceWork work;
  for (int i = 0; i < d.count; ++i) add_convolution(work, d.stages[i], false);
  return work;
}

std::optional<DeviceWork> input_grad(const ir::Params& params) {
  const auto d = params.as<conv2d_input_grad_dims>();
  DeviceWork work;
  add(work, input_grad_loop(d), products_of(d), double(d.n) * d.h * d.w * d.c);
  return work;
}

std::optional<DeviceWork> weight_grad(const ir::Params& params) {
  const conv_dims d = params.as<quantized_conv2d_weight_grad_dims>().conv;
  DeviceWork work;
  add(work, weight_grad_loop(d), products_of(d), double(d.k) * d.r * d.s * (d.c / d.groups));
  return work;
}

// Three multiplications in fixed point, which take as long as two results of a layer.
std::optional<DeviceWork> sum_of_two(const ir::Params& params) {
  const auto d = params.as<quantized_sum_dims>();
  if (d.out.fixed_point == 0) return std::nullopt;
  DeviceWork work;
  add(work, DeviceLoop::plain, 0.0, 2.0 * d.walk.n);
  return work;
}

struct Rule {
  std::string_view op;
  std::optional<DeviceWork> (*work)(const ir::Params&);
};

constexpr Rule kRules[] = {
    {"quantized_conv2d", convolution<false>},
    {"quantized_conv2d_inside", convolution<true>},
    {"quantized_conv2d_masked", convolution<true>},
    {"quantized_conv2d_rows", chain},
    {"quantized_dense", dense<false>},
    {"quantized_dense_inside", dense<true>},
    {"quantized_dense_masked", dense<true>},
    {"quantized_conv2d_input_grad", input_grad},
    {"quantized_conv2d_input_grad_masked", input_grad},
    {"quantized_depthwise_input_grad", input_grad},
    {"quantized_conv2d_weight_grad", weight_grad},
    {"quantized_add", sum_of_two},
    {"quantized_add_inside", sum_of_two},
    {"quantized_sub", sum_of_two},
    {"quantized_sub_inside", sum_of_two},
};

}  // namespace

std::optional<DeviceWork> device_work(std::string_view op, const ir::Params& params) {
  const auto* const rule = std::find_if(std::begin(kRules), std::end(kRules),
                                        [&](const Rule& each) { return each.op == op; });
  if (rule == std::end(kRules)) return std::nullopt;
  return rule->work(params);
}

}  // namespace thimble::ops
