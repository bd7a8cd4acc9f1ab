// The meaning of the integers of a quantized tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace thimble {

// real = scale * (integer - zero point), with one scale for the whole tensor or one for every index
// of an axis. Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient
// Integer-Arithmetic-Only Inference", 2018, equation 1.
//
// A tensor that carries one has an integer type of at most 32 bits; scales are finite and above 0;
// zero points are numbers of the type. Graph::input, constant and parameter throw Error otherwise.
struct Quantization {
  std::vector<float> scales;         // one, or one per index of the axis; empty: not quantized
  std::vector<int32_t> zero_points;  // as many as scales; empty: all are 0
  std::optional<int> axis = {};  // axis of the tensor, from 0; none: one scale for the whole tensor

  bool operator==(const Quantization&) const = default;
};

}  // namespace thimble
