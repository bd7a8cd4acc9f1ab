// Shared by quantized ops: checks of quantized types, and the parameters of their kernels.
#pragma once

#include <thimble/attributes.h>
#include <thimble/quantization.h>
#include <thimble/requantization.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "ir/op_def.h"
#include "simd/requantize.h"

namespace thimble::ops {

void describe_requantization(Requantization& requantization, ir::FieldVisitor& v);

// The fields of every attribute struct of a quantized op that describe the result: scale,
// zero_point, requantization and, in some, activation.
struct QuantizedResult {
  double scale = 1.0;
  int64_t zero_point = 0;
  Requantization requantization = Requantization::floating;
  Activation activation = Activation::none;
};
template <class T>
[[nodiscard]] QuantizedResult result_of(const T& attrs) {
  QuantizedResult result{attrs.scale, attrs.zero_point, attrs.requantization};
  if constexpr (requires { attrs.activation; }) result.activation = attrs.activation;
  return result;
}
template <class T>
void describe_result(T& attrs, ir::FieldVisitor& v) {
  v.field("scale", attrs.scale, "of the result");
  v.field("zero_point", attrs.zero_point, "of the result, -128 to 127");
  describe_requantization(attrs.requantization, v);
}

// The quantization of input i, which must be i8 with one scale for the whole tensor. Fails
// otherwise.
const Quantization& require_quantized(const ir::InferContext& c, int i);
// Fails unless input i is i8 with zero points of 0 and one scale, or one per index of `axis`.
void require_quantized_weights(const ir::InferContext& c, int i, int axis);
// Fails unless the bias is left out or i32 of one number per output channel, with zero points of 0
// if it is quantized.
void require_quantized_bias(const ir::InferContext& c, int i, int64_t channels);

[[nodiscard]] float scale_of(const ir::TensorType& type);
[[nodiscard]] int32_t zero_point_of(const ir::TensorType& type);
// The scale of weights of an output channel.
[[nodiscard]] float channel_scale(const ir::TensorType& weights, int64_t channel);

// The type of a result of this shape. Fails where scale or zero point are none of i8.
ir::TensorType quantized_type(const ir::InferContext& c, const Shape& shape,
                              const QuantizedResult& result);

// The bounds and zero point of a result.
[[nodiscard]] quantized_result kernel_result(const QuantizedResult& result);
[[nodiscard]] inline quantized_result kernel_result(Requantization requantization,
                                                    int32_t zero_point) {
  return {requantization == Requantization::fixed_point ? 1 : 0, zero_point, -128, 127};
}

// A factor as kernels take it; too small ones become 0 in fixed point, as in TensorFlow Lite.
[[nodiscard]] quantized_factor kernel_factor(double factor);
// The same with zeros in the place of what the convention does not read.
[[nodiscard]] quantized_factor kernel_factor(double factor, Requantization requantization);
// Fails where a factor is too large for the kernels; `of` says what it is made of.
void require_factor(const ir::InferContext& c, double factor, const std::string& of);

// The factor by which a convolution's sums of an output channel become results.
[[nodiscard]] double channel_factor(float input, float weight, float result);
// The same of a dense layer: fixed point rounds the product of the scales to f32 first.
[[nodiscard]] double dense_factor(float input, float weight, float result,
                                  Requantization requantization);
// Checks the factors of all output channels; weights: input 1.
void require_channel_factors(const ir::InferContext& c, int64_t channels, double scale);
// The factor of each output channel; inputs: x, weights.
[[nodiscard]] std::vector<quantized_factor> channel_factors(const ir::KernelContext& c,
                                                            int64_t channels, double scale,
                                                            Requantization requantization);

// Kernel parameters followed by one struct per channel (QUANTIZED_FACTORS for factors).
template <class Dims, class Channel>
[[nodiscard]] ir::Params with_channels(const Dims& dims, const std::vector<Channel>& channels) {
  static_assert(sizeof(Dims) % alignof(Channel) == 0);
  std::vector<std::byte> bytes(sizeof(Dims) + channels.size() * sizeof(Channel));
  std::memcpy(bytes.data(), &dims, sizeof(Dims));
  if (!channels.empty()) {
    std::memcpy(bytes.data() + sizeof(Dims), channels.data(), channels.size() * sizeof(Channel));
  }
  return ir::Params::of_bytes(bytes);
}

}  // namespace thimble::ops
