// Shared by 2-D convolution, its gradients and its transpose: sizes and checks.
#pragma once

#include "ops/families/conv/window.h"
#include "simd/conv_dims.h"

namespace thimble::ops {

// A convolution of images [N, H, W, C] with weights [K, kh, kw, C / groups].
struct Convolution {
  Window window;
  int64_t groups = 1;
};

// The window of a convolution with these attributes, for weights of this height and width.
template <class T>
[[nodiscard]] Convolution convolution_of(const T& attrs, Pair kernel) {
  return {{kernel, attrs.stride, attrs.dilation, attrs.padding}, attrs.groups};
}

// Fails unless input i is an image [N, H, W, C].
void check_image(const ir::InferContext& c, int i);

// Fails unless input 1 is weights [outer, kh, kw, inner / groups] and the groups divide both
// channel counts. The convolution maps inner channels to outer ones. The names are those used in
// the message.
void check_weights(const ir::InferContext& c, int64_t groups, int64_t outer, int64_t inner,
                   const char* outer_name, const char* inner_name);

// The inner channels of weights (input 1) [outer, kh, kw, inner / groups].
[[nodiscard]] int64_t grouped_channels(const ir::InferContext& c, int64_t groups);

// Fails unless the bias (input 2) is left out or has one value per channel.
void check_bias(const ir::InferContext& c, int64_t channels);

// Throws Error unless a layer with these settings is valid: x is images, channels and kernel are
// positive, and groups divide the channels of both sides.
void check_layer(const char* op, const Shape& x, int64_t channels, Pair kernel, int64_t groups);

// The type of the weights' gradient [K, kh, kw, C / groups] from inputs x [N, H, W, C] and dy
// [N, P, Q, K]. whole_channels: 0, or those of a convolution of which x has some.
[[nodiscard]] ir::TensorType weight_grad_type(const ir::InferContext& c,
                                              const Convolution& convolution,
                                              int64_t whole_channels);

// Kernel sizes for an op from `input` to `output`, both NHWC images; `padded` is the size of the
// image to which the padding applies.
[[nodiscard]] conv_dims conv_sizes(const Convolution& convolution, const Shape& input,
                                   const Shape& output, Pair padded);

// Floating-point operations of a convolution, of each of its gradients, and of its transpose;
// params are conv_dims.
[[nodiscard]] double conv_flops(const ir::Params& params);
[[nodiscard]] double conv_transpose_flops(const ir::Params& params);

// The same of a fast kernel, given that of sizes.
template <double (*kOfSizes)(const conv_dims&)>
[[nodiscard]] double fast_conv_flops(const ir::Params& params) {
  return kOfSizes(params.as<conv_dims>());
}

}  // namespace thimble::ops
