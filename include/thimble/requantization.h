// How quantized ops bring sums to the scale of their result.
#pragma once

#include <cstdint>

namespace thimble {

// How an int32 sum becomes an int8 result of another scale. floating: times a scale of f32, then to
// the nearest integer, halves to even. fixed_point: times an integer of 31 bits, then shifted, with
// the roundings of TensorFlow Lite's reference kernels; dense layers follow TensorFlow Lite Micro.
enum class Requantization : uint8_t { floating, fixed_point };

}  // namespace thimble
