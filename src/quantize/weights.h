// The integers of weights.
#pragma once

#include <cstdint>
#include <vector>

#include "quantize/fold.h"

namespace thimble::quantizing {

inline constexpr int kWeightBits = 8;
// The largest integer of so many bits; the least one is its negative.
[[nodiscard]] constexpr int most_weight(int bits) { return (1 << (bits - 1)) - 1; }

// A scale for each output channel, by which its largest weight and its bias (or none) fit. Of fewer
// than 8 bits the scale is at most that of Esser et al., "Learned Step Size Quantization", ICLR
// 2020: 2 mean(|w|) / sqrt(largest integer).
[[nodiscard]] std::vector<float> weight_scales(const std::vector<float>& weight,
                                               const ChannelWalk& walk,
                                               const std::vector<float>& bias, float input_scale,
                                               int bits);

// The integers of weights, and what they stand for: one scale for each output channel, zero points
// of 0. bias: numbers that must fit into int32 beside them, or none. axis: of the channels.
struct QuantizedWeights {
  std::vector<int8_t> weight;
  std::vector<float> scales;
  std::vector<int32_t> bias;
};
[[nodiscard]] QuantizedWeights quantized_weights(const std::vector<float>& weight,
                                                 const Shape& shape, int axis,
                                                 const std::vector<float>& bias, float input_scale);

}  // namespace thimble::quantizing
