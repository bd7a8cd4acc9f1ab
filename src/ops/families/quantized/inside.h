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

// Fast kernels of masks from those of the ops. A run with another zero point, without bounds but
// those of int8, moves the lower bound to -127: what lies below becomes -128. What lies above is
// seen, too, where less than 255 numbers lie between the bounds; elsewhere 127 stands for two of
// them or more, and those few elements are computed again by themselves.
namespace inside {

// Workspace of a mask of n elements, before that of the op: its results.
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

// A run whose results, less `shift`, are those of `out` where they lie between the ends of int8.
struct MovedRun {
  quantized_result out;  // of the run
  int32_t shift;
  int32_t low, high;  // bounds of the results
  [[nodiscard]] bool sees_above() const { return high + shift < 127; }
};

inline MovedRun moved_low(const quantized_result& out) {
  const int32_t shift = -127 - out.low;
  return {{out.fixed_point, out.zero_point + shift, -128, 127}, shift, out.low, out.high};
}

// How many of the bytes are 127.
inline int64_t count_of_largest(const int8_t* results, int64_t n) {
  return std::count(results, results + n, static_cast<int8_t>(127));
}

// From the results of a moved run: y, in their place, and bits. exact(i): element i before it is
// clamped; asked for elements of 127 where the run does not see what lies above.
template <class Exact>
void settle(int8_t* y, uint8_t* bits, int64_t n, const MovedRun& run, parallel::ThreadPool& pool,
            const Exact& exact) {
  constexpr int64_t kBlock = 64;
  const bool sees_above = run.sees_above();
  pool.run((n + kTask - 1) / kTask, [&](int64_t task) {
    const int64_t last = std::min(n, (task + 1) * kTask);
    for (int64_t first = task * kTask; first < last; first += kBlock) {
      const auto count = static_cast<ptrdiff_t>(std::min(kBlock, last - first));
      int8_t results[kBlock];
      int8_t is_inside[kBlock];
      std::fill_n(results, kBlock, static_cast<int8_t>(-128));  // bits behind the last are 0
      std::copy_n(y + first, count, results);
      const int top = sees_above ? run.high + run.shift : 127;
      int8_t clamped[kBlock];
      for (int64_t i = 0; i < kBlock; ++i) {
        const int v = results[i];
        is_inside[i] = static_cast<int8_t>((v != -128) & (v <= top));
        clamped[i] = static_cast<int8_t>(std::min(std::max(v - run.shift, run.low), run.high));
      }
      for (int64_t i = 0; !sees_above && i < kBlock; i += 8) {
        if (differing(results + i, 127) == 0xff) continue;
        for (int64_t k = i; k < i + 8; ++k) {
          if (results[k] != 127) continue;
          const int64_t v = exact(first + k);
          is_inside[k] = static_cast<int8_t>(v <= run.high);
          clamped[k] = static_cast<int8_t>(std::min<int64_t>(v, run.high));
        }
      }
      std::copy_n(clamped, count, y + first);
      for (ptrdiff_t i = 0; i < count; i += 8) {
        bits[(first + i) / 8] = static_cast<uint8_t>(differing(is_inside + i, 0));
      }
    }
  });
}

// y: the results, bits: their mask. run(y, out): the op's fast kernel with these bounds and zero
// point. results: n bytes for where a second run is needed, because many elements are 127. exact:
// as above.
template <class Run, class Exact>
void result_and_bits(int8_t* y, uint8_t* bits, int8_t* results, int64_t n,
                     const quantized_result& out, parallel::ThreadPool& pool, const Run& run,
                     const Exact& exact) {
  constexpr int64_t kFewOf = 128;
  const MovedRun moved = moved_low(out);
  run(y, moved.out);
  if (moved.sees_above() || count_of_largest(y, n) <= n / kFewOf) {
    return settle(y, bits, n, moved, pool, exact);
  }
  // What is clamped above is what a run with the upper bound at 126 makes 127.
  const quantized_result upper{out.fixed_point, out.zero_point + 126 - out.high, -128, 127};
  run(results, upper);
  settle(y, bits, n, moved, pool, [&](int64_t i) -> int64_t {
    return results[i] == 127 ? int64_t{out.high} + 1 : int64_t{results[i]} - 126 + out.high;
  });
}

}  // namespace inside
}  // namespace thimble::ops
