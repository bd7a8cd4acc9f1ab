#include "quantize/weights.h"

#include <algorithm>
#include <cmath>

namespace thimble::quantizing {
namespace {

constexpr double kMost = 127.0;
// A bias takes at most this part of int32; the rest is for the sum of products.
constexpr double kMostBias = 0x1p30;
// Of a channel whose weights are all 0.
constexpr float kNoScale = 0x1p-7F;

}  // namespace

std::vector<float> weight_scales(const std::vector<float>& weight, const ChannelWalk& walk,
                                 const std::vector<float>& bias, float input_scale, int bits) {
  std::vector<double> largest(static_cast<size_t>(walk.channels), 0.0);
  std::vector<double> sum(largest.size(), 0.0);
  for (size_t i = 0; i < weight.size(); ++i) {
    const size_t k = walk.of(static_cast<int64_t>(i));
    const double size = std::abs(static_cast<double>(weight[i]));
    largest[k] = std::max(largest[k], size);
    sum[k] += size;
  }
  const double most = most_weight(bits);
  const double count = static_cast<double>(weight.size()) / static_cast<double>(largest.size());
  std::vector<float> scales;
  for (size_t k = 0; k < largest.size(); ++k) {
    double scale = largest[k] / most;
    // Few steps are better spent on the many small weights.
    if (bits < kWeightBits) scale = std::min(scale, 2.0 * sum[k] / count / std::sqrt(most));
    for (size_t of_group = k; of_group < bias.size(); of_group += largest.size()) {
      const double x = static_cast<double>(input_scale);
      scale = std::max(scale, std::abs(static_cast<double>(bias[of_group])) / (kMostBias * x));
    }
    scales.push_back(static_cast<float>(scale) > 0.0F ? static_cast<float>(scale) : kNoScale);
  }
  return scales;
}

QuantizedWeights quantized_weights(const std::vector<float>& weight, const Shape& shape, int axis,
                                   const std::vector<float>& bias, float input_scale) {
  const ChannelWalk walk = walk_of(shape, axis);
  QuantizedWeights made;
  made.scales = weight_scales(weight, walk, bias, input_scale, kWeightBits);
  const auto x = static_cast<double>(input_scale);
  made.weight.reserve(weight.size());
  for (size_t i = 0; i < weight.size(); ++i) {
    const auto scale = static_cast<double>(made.scales[walk.of(static_cast<int64_t>(i))]);
    const double integer = std::nearbyint(static_cast<double>(weight[i]) / scale);
    made.weight.push_back(static_cast<int8_t>(std::clamp(integer, -kMost, kMost)));
  }
  for (size_t k = 0; k < bias.size(); ++k) {
    const double unit = x * static_cast<double>(made.scales[k % made.scales.size()]);
    const double integer = std::nearbyint(static_cast<double>(bias[k]) / unit);
    made.bias.push_back(static_cast<int32_t>(std::clamp(integer, -kMostBias - 1.0, 0x1p31 - 1.0)));
  }
  return made;
}

}  // namespace thimble::quantizing
