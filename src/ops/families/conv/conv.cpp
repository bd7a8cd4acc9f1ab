#include "ops/families/conv/conv.h"

#include <fmt/format.h>

#include "ir/sizes.h"
#include "simd/conv.h"

namespace thimble::ops {

void check_image(const ir::InferContext& c, int i) {
  if (c.shape(i).rank() != 4) {
    c.fail(fmt::format("expected {} to be images [N, H, W, C]; reshape to 4 dimensions",
                       c.op.signature.inputs[static_cast<size_t>(i)].name));
  }
}

void check_weights(const ir::InferContext& c, int64_t groups, int64_t outer, int64_t inner,
                   const char* outer_name, const char* inner_name) {
  const Shape& w = c.shape(1);
  c.require(groups >= 1, "expected at least one group");
  c.require(outer >= 1 && inner >= 1, "expected at least one channel");
  if (outer % groups != 0 || inner % groups != 0) {
    c.fail(fmt::format("expected groups to divide the {} {} and the {} {} channels", outer,
                       outer_name, inner, inner_name));
  }
  if (w.rank() != 4 || w[0] != outer || w[3] * groups != inner) {
    c.fail(fmt::format("expected a weight [{0}, kh, kw, {1} / groups] = [{2}, kh, kw, {3}]",
                       outer_name, inner_name, outer, inner / groups));
  }
}

int64_t grouped_channels(const ir::InferContext& c, int64_t groups) {
  c.require(groups >= 1, "expected at least one group");
  return ir::bounded_product(c.shape(1)[3], groups);
}

void check_bias(const ir::InferContext& c, int64_t channels) {
  if (!c.has(2)) return;
  if (c.shape(2) != Shape{channels}) {
    c.fail(fmt::format("expected a bias [{}], one value an output channel", channels));
  }
}

ir::TensorType weight_grad_type(const ir::InferContext& c, const Convolution& convolution,
                                int64_t whole_channels) {
  check_image(c, 0);
  check_image(c, 1);
  const Shape& x = c.shape(0);
  const Shape& dy = c.shape(1);
  const int64_t groups = convolution.groups;
  const Window& window = convolution.window;
  c.require(x[0] == dy[0], "expected x and dy of one batch");
  c.require(groups >= 1 && x[3] % groups == 0 && dy[3] % groups == 0,
            "expected groups to divide the channels of x and dy");
  check_window(c, window);
  c.require(whole_channels == 0 || whole_channels >= x[3],
            "expected whole_channels of at least the channels of x");
  c.require(window_places(c, window, image_size(x)) == image_size(dy),
            "expected dy to be as large as the convolution's result");
  return {DType::f32, {dy[3], window.kernel.h, window.kernel.w, x[3] / groups}};
}

void check_layer(const char* op, const Shape& x, int64_t channels, Pair kernel, int64_t groups) {
  if (x.rank() != 4 || x[3] < 1) {
    throw Error(op, fmt::format("expected x to be images [N, H, W, C], got {}; reshape to 4 "
                                "dimensions",
                                to_string(x)));
  }
  if (channels < 1) {
    throw Error(op,
                fmt::format("expected at least 1 output channel, got {}; set .channels", channels));
  }
  if (kernel.h < 1 || kernel.w < 1) {
    throw Error(op, fmt::format("expected a kernel of at least 1 by 1, got {} by {}; set .kernel",
                                kernel.h, kernel.w));
  }
  if (groups < 1 || channels % groups != 0 || x[3] % groups != 0) {
    throw Error(op, fmt::format("expected groups to divide the {} input and the {} output "
                                "channels, got {} groups",
                                x[3], channels, groups));
  }
}

conv_dims conv_sizes(const Convolution& convolution, const Shape& input, const Shape& output,
                     Pair padded) {
  const Window& window = convolution.window;
  const Padding padding = settled_padding(window, padded);
  conv_dims d{};
  d.n = static_cast<int>(input[0]);
  d.h = static_cast<int>(input[1]);
  d.w = static_cast<int>(input[2]);
  d.c = static_cast<int>(input[3]);
  d.p = static_cast<int>(output[1]);
  d.q = static_cast<int>(output[2]);
  d.k = static_cast<int>(output[3]);
  d.r = static_cast<int>(window.kernel.h);
  d.s = static_cast<int>(window.kernel.w);
  d.stride_h = static_cast<int>(window.stride.h);
  d.stride_w = static_cast<int>(window.stride.w);
  d.pad_top = static_cast<int>(padding.top);
  d.pad_left = static_cast<int>(padding.left);
  d.dilation_h = static_cast<int>(window.dilation.h);
  d.dilation_w = static_cast<int>(window.dilation.w);
  d.groups = static_cast<int>(convolution.groups);
  return d;
}

double conv_flops(const ir::Params& params) { return simd::direct_flops(params.as<conv_dims>()); }

double conv_transpose_flops(const ir::Params& params) {
  const auto d = params.as<conv_dims>();
  return 2.0 * d.n * d.h * d.w * d.c * d.r * d.s * (d.k / d.groups);
}

}  // namespace thimble::ops
