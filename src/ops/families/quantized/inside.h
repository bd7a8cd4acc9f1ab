// Gradients of quantized ops. They are those of the whole numbers, with straight-through rounding:
// where a result lay within its bounds before it was clamped, rounding counts as the identity, and
// elsewhere the gradient is 0. Source: Lin et al., "On-Device Training Under 256KB Memory", 2022.
#pragma once

#include <thimble/graph.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "ir/op_def.h"
#include "parallel/thread_pool.h"
#include "simd/requantize.h"

namespace thimble::ops {

// The type of a bit mask for the result of an op with this shape rule.
template <std::vector<ir::TensorType> (*infer)(const ir::InferContext&)>
std::vector<ir::TensorType> infer_inside(const ir::InferContext& c) {
  return {{DType::boolean, infer(c)[0].shape}};
}

// The op "<op>_inside", which computes that bit mask: whether each element of the result of `of`
// lay within the bounds before it was clamped. It has the inputs, attributes and parameters of that
// op.
[[nodiscard]] OpDef inside_op(const OpDef& of, const char* name,
                              std::vector<ir::TensorType> (*infer)(const ir::InferContext&),
                              ir::KernelFn ref, ir::KernelFn ref64);

// The gradient of a result before it was rounded and clamped. inside: the op's bit mask.
[[nodiscard]] Value straight_through(const ir::VjpContext& c, const OpDef& inside);

// The integers of x less their zero point, f32. x: i8 with one scale.
[[nodiscard]] Value centered(Value x);
// The integers of x, f32.
[[nodiscard]] Value integers(Value x);

// x * factors along its last axis; one factor is for all. owner: the value that the factors belong
// to, which is asked for no other ones.
[[nodiscard]] Value times_channels(Value x, const std::vector<double>& factors, Value owner);

// Scale of x * scale of weight by the scale of the result, for every output channel, and the real
// number that 1 of a bias stands for. channels: of the result; each group of them has all scales of
// the weight.
[[nodiscard]] std::vector<double> sum_factors(const ir::TensorType& x, const ir::TensorType& weight,
                                              double scale, int64_t channels);
[[nodiscard]] std::vector<double> bias_units(const ir::TensorType& x, const ir::TensorType& weight,
                                             int64_t channels);

// The fast kernel of a mask from that of the op. A run with another zero point, without bounds but
// those of int8, brings one bound to the end of int8: what is clamped there lay beyond.
namespace inside {

// The parameters of the op, followed by those of two runs: the lower bound becomes -127, and the
// upper one 126. Dims: with a field `out`, followed by factors.
template <class Dims>
[[nodiscard]] ir::Params params_of_runs(const ir::Params& own) {
  static_assert(sizeof(Dims) % alignof(quantized_factor) == 0 && alignof(Dims) <= 4);
  const std::vector<std::byte>& bytes = own.bytes();
  std::vector<std::byte> all = bytes;
  Dims d;
  std::memcpy(&d, bytes.data(), sizeof(Dims));
  for (const int32_t shift : {-127 - d.out.low, 126 - d.out.high}) {
    Dims run = d;
    run.out.zero_point += shift;
    run.out.low = -128;
    run.out.high = 127;
    const auto at = static_cast<std::ptrdiff_t>(all.size());
    all.insert(all.end(), bytes.begin(), bytes.end());
    std::memcpy(all.data() + at, &run, sizeof(Dims));
  }
  return ir::Params::of_bytes(all);
}

// Workspace of the mask of n elements, from that of the op: results come first.
[[nodiscard]] inline int64_t result_bytes(int64_t n) { return (n + 63) / 64 * 64; }

// Bytes of the bit mask by tasks of so many elements.
inline constexpr int64_t kTask = 8192;

// Bit i says whether byte i is not `beyond`. bytes: 8, in a little-endian word.
inline unsigned differing(const int8_t* bytes, int8_t beyond) {
  constexpr uint64_t kOnes = 0x0101010101010101U;
  constexpr uint64_t kLow = 0x7f * kOnes;  // all bits of a byte but the highest
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  word ^= kOnes * static_cast<uint8_t>(beyond);
  // The highest bit of every byte that is not 0, brought to the lowest: their product with powers
  // of 2 at distances of 7 gathers them in the highest byte.
  const uint64_t set = (((word & kLow) + kLow) | word) >> 7 & kOnes;
  return static_cast<unsigned>(set * 0x0102040810204080U >> 56);
}

// bits: bit i says whether results[i] is not `beyond`; where `narrows`, of the bits that are set.
inline void compare(uint8_t* bits, const int8_t* results, int64_t n, int8_t beyond, bool narrows,
                    parallel::ThreadPool& pool) {
  pool.run((n + kTask - 1) / kTask, [=](int64_t task) {
    const int64_t last = std::min(n, (task + 1) * kTask);
    for (int64_t first = task * kTask; first < last; first += 8) {
      int8_t rest[8];
      const int8_t* bytes = results + first;
      if (last - first < 8) {  // bits behind the last element are 0
        std::fill_n(rest, 8, beyond);
        std::copy(bytes, bytes + (last - first), rest);
        bytes = rest;
      }
      const unsigned byte = differing(bytes, beyond);
      uint8_t& to = bits[first / 8];
      to = static_cast<uint8_t>(narrows ? to & byte : byte);
    }
  });
}

// run(results, workspace, dims): the op's fast kernel. n: elements of the result; channels: of the
// factors behind the parameters.
template <class Dims, class Run>
void bits_of_runs(uint8_t* bits, void* workspace, const Dims* d, int64_t n, int64_t channels,
                  parallel::ThreadPool& pool, const Run& run) {
  const auto size = static_cast<std::ptrdiff_t>(sizeof(Dims) + static_cast<size_t>(channels) *
                                                                   sizeof(quantized_factor));
  auto* const results = static_cast<int8_t*>(workspace);
  void* const rest = static_cast<std::byte*>(workspace) + result_bytes(n);
  for (const int number : {1, 2}) {
    const auto* const at = reinterpret_cast<const std::byte*>(d) + number * size;
    run(results, rest, reinterpret_cast<const Dims*>(at));
    compare(bits, results, n, static_cast<int8_t>(number == 1 ? -128 : 127), number == 2, pool);
  }
}

}  // namespace inside
}  // namespace thimble::ops
