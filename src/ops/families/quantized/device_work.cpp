#include "ops/families/quantized/device_work.h"

#include "ops/families/quantized/conv_micro_dims.h"
#include "simd/depthwise.h"

namespace thimble::ops {
namespace {

using ir::DeviceLoop;

DeviceLoop device_loop(const conv_dims& d, const quantized_result& out, bool has_mask) {
  const bool is_bounded = out.fixed_point != 0 || out.low > INT8_MIN || out.high < INT8_MAX;
  if (simd::is_depthwise(d))
    return is_bounded ? DeviceLoop::plain_depthwise : DeviceLoop::depthwise;
  // Bits of a mask are set by the byte.
  const int multiple = has_mask ? 8 : 4;
  const bool has_tiles =
      d.groups == 1 && d.k % multiple == 0 && d.r * d.s * d.c <= QUANTIZED_MICRO_TAPS;
  if (is_bounded || !has_tiles) return DeviceLoop::plain;
  const bool is_few = int64_t{d.n} * d.p * d.q < QUANTIZED_MICRO_PIXELS;
  return is_few ? DeviceLoop::rows : DeviceLoop::tiles;
}

}  // namespace

double conv_products(const conv_dims& d) {
  return double(d.n) * d.p * d.q * d.k * d.r * d.s * (d.c / d.groups);
}

void add_convolution(ir::DeviceWork& work, const quantized_conv2d_dims& dims, bool has_mask) {
  const conv_dims& d = dims.conv;
  work.add(device_loop(d, dims.out, has_mask), conv_products(d), double(d.n) * d.p * d.q * d.k);
}

}  // namespace thimble::ops
