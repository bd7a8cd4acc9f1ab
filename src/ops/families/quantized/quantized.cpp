#include "ops/families/quantized/quantized.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/canonical.h"

namespace thimble::ops {
namespace {

// Kernels shift sums left by at most 31 bits: by 31 where the multiplier is rounded up.
constexpr double kLargestFactor = 0x1p30;

const char* name_of(const ir::InferContext& c, int i) {
  return c.op.signature.inputs[static_cast<size_t>(i)].name;
}

// Products of two scales and 255 of them stay far below the largest f32.
constexpr float kLargestScale = 0x1p60F;

void require_scales(const ir::InferContext& c, const std::string& name,
                    const std::vector<float>& scales) {
  for (const float scale : scales) {
    if (scale > kLargestScale) {
      c.fail(fmt::format("expected scales of {} of at most 2^60, got {:.3g}", name, scale));
    }
  }
}

bool are_zero(const std::vector<int32_t>& zero_points) {
  return std::all_of(zero_points.begin(), zero_points.end(), [](int32_t z) { return z == 0; });
}

}  // namespace

void describe_requantization(Requantization& requantization, ir::FieldVisitor& v) {
  static constexpr const char* kNames[] = {"float", "fixed_point"};
  v.enumeration("requantization", requantization, kNames,
                "float: scales of f32, round to nearest; fixed_point: the integers of TensorFlow "
                "Lite's reference kernels, of dense layers those of TensorFlow Lite Micro");
}

const Quantization& require_quantized(const ir::InferContext& c, int i) {
  const ir::TensorType& type = c.input(i);
  if (type.quantization == nullptr || type.quantization->scales.size() != 1 ||
      type.quantization->axis) {
    c.fail(
        fmt::format("expected {} to be i8 with one scale for the whole tensor; quantize it first",
                    name_of(c, i)));
  }
  require_scales(c, name_of(c, i), type.quantization->scales);
  return *type.quantization;
}

void require_quantized_weights(const ir::InferContext& c, int i, int axis) {
  const ir::TensorType& type = c.input(i);
  if (type.quantization == nullptr ||
      (type.quantization->axis && *type.quantization->axis != axis) ||
      !are_zero(type.quantization->zero_points)) {
    c.fail(
        fmt::format("expected {} to be i8 with zero points of 0 and one scale, or one for each "
                    "index of axis {}",
                    name_of(c, i), axis));
  }
  require_scales(c, name_of(c, i), type.quantization->scales);
}

void require_quantized_bias(const ir::InferContext& c, int i, int64_t channels) {
  if (!c.has(i)) return;
  const ir::TensorType& type = c.input(i);
  if (type.shape != Shape{channels}) {
    c.fail(fmt::format("expected {} to be [{}], one number an output channel", name_of(c, i),
                       channels));
  }
  c.require(type.quantization == nullptr || are_zero(type.quantization->zero_points),
            "expected a bias with zero points of 0");
}

float scale_of(const ir::TensorType& type) { return type.quantization->scales[0]; }

int32_t zero_point_of(const ir::TensorType& type) {
  const auto& zero_points = type.quantization->zero_points;
  return zero_points.empty() ? 0 : zero_points[0];
}

float channel_scale(const ir::TensorType& weights, int64_t channel) {
  const auto& scales = weights.quantization->scales;
  return scales[scales.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

ir::TensorType quantized_type(const ir::InferContext& c, const Shape& shape,
                              const QuantizedResult& result) {
  const auto scale = static_cast<float>(result.scale);
  if (!std::isfinite(scale) || !(scale > 0.0F)) {
    c.fail(
        fmt::format("expected a scale that f32 holds and that is above 0, got {}", result.scale));
  }
  require_scales(c, "the result", {scale});
  if (result.zero_point < -128 || result.zero_point > 127) {
    c.fail(fmt::format("expected a zero point from -128 to 127, got {}", result.zero_point));
  }
  Quantization q{{scale}, {static_cast<int32_t>(result.zero_point)}};
  return {DType::i8, shape, std::make_shared<const Quantization>(ir::canonical(std::move(q)))};
}

quantized_result kernel_result(const QuantizedResult& result) {
  const auto zero = static_cast<int32_t>(result.zero_point);
  quantized_result o = kernel_result(result.requantization, zero);
  if (result.activation == Activation::none) return o;
  o.low = std::max(o.low, zero);
  if (result.activation == Activation::relu6) {
    const float six = std::round(6.0F / static_cast<float>(result.scale));  // halves away from 0
    o.high = static_cast<int32_t>(std::min(127.0F, static_cast<float>(zero) + six));
  }
  return o;
}

quantized_factor kernel_factor(double factor) {
  quantized_factor f{static_cast<float>(factor), 0, 0};
  if (factor == 0.0) return f;
  int shift = 0;
  const double fraction = std::frexp(factor, &shift);  // in [1/2, 1)
  auto multiplier = static_cast<int64_t>(std::round(fraction * 0x1p31));
  if (multiplier == (int64_t{1} << 31)) {
    multiplier /= 2;
    ++shift;
  }
  if (shift < -31) return f;
  f.multiplier = static_cast<int32_t>(multiplier);
  f.shift = shift;
  return f;
}

quantized_factor kernel_factor(double factor, Requantization requantization) {
  if (requantization == Requantization::fixed_point) return kernel_factor(factor);
  return {static_cast<float>(factor), 0, 0};
}

void require_factor(const ir::InferContext& c, double factor, const std::string& of) {
  if (factor < kLargestFactor) return;
  c.fail(fmt::format("{} is {:.3g}, more than 2^30: the scales lie too far apart", of, factor));
}

double channel_factor(float input, float weight, float result) {
  return static_cast<double>(input) * static_cast<double>(weight) / static_cast<double>(result);
}

double dense_factor(float input, float weight, float result, Requantization requantization) {
  if (requantization == Requantization::floating) return channel_factor(input, weight, result);
  return static_cast<double>(input * weight) / static_cast<double>(result);
}

void require_channel_factors(const ir::InferContext& c, int64_t channels, double scale) {
  const float input = scale_of(c.input(0));
  const auto result = static_cast<float>(scale);
  for (int64_t k = 0; k < channels; ++k) {
    require_factor(c, channel_factor(input, channel_scale(c.input(1), k), result),
                   fmt::format("the scales of input and weight by that of the result, of output "
                               "channel {},",
                               k));
  }
}

std::vector<quantized_factor> channel_factors(const ir::KernelContext& c, int64_t channels,
                                              double scale, Requantization requantization) {
  const float input = scale_of(*c.inputs[0]);
  const auto result = static_cast<float>(scale);
  std::vector<quantized_factor> factors;
  factors.reserve(static_cast<size_t>(channels));
  for (int64_t k = 0; k < channels; ++k) {
    factors.push_back(kernel_factor(channel_factor(input, channel_scale(*c.inputs[1], k), result),
                                    requantization));
  }
  return factors;
}

}  // namespace thimble::ops
