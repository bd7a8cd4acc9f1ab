// Convolutions of int8 images: exact int32 sums, brought to int8 while they are stored.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.h"
#include "simd/conv_dims.h"
#include "simd/requantize.h"

namespace thimble::simd {

// How sums become results.
struct Int8Result {
  quantized_result out;
  int32_t input_zero_point;
  const quantized_factor* factors;  // one per output channel
};

// How the products of taps are added: two at a time, or four with VNNI or Arm's dot product.
// `fastest` is what the processor has; the others are for tests.
enum class Int8Words : uint8_t { fastest, pairs, quads };
// Whether the current vector target and this processor have such words.
[[nodiscard]] bool int8_has(Int8Words words);

// y[n,p,q,k] = requantized(saturated(sum_{r,s,c} (x[n, p*stride+r*dilation-pad, ..., c] - zero
// point) w[k,r,s,c] + bias[k])), the bits of quantized_requantize. Taps outside the image count as
// zero. x: [n,h,w,c], w: [k,r,s,c/groups], bias: [k] or null, y: [n,p,q,k]; y aliases nothing.
// workspace: int8_conv_workspace_bytes, of any alignment. `activation` and `accumulate` are not
// used. Results depend neither on the number of threads nor on `words`. Does not throw or allocate.
void int8_conv(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias, void* workspace,
               const conv_dims& d, const Int8Result& result, parallel::ThreadPool& pool,
               Int8Words words = Int8Words::fastest);
// 0 where int8_conv_fits says no or y is empty.
[[nodiscard]] int64_t int8_conv_workspace_bytes(const conv_dims& d, int threads);

// The same in two parts: int8_conv_prepare packs what depends on w, bias and the factors, for any
// number of calls of int8_conv_prepared. prepared: int8_conv_prepared_bytes, 64-byte aligned; they
// are 0 where there is no such form: for groups that are not depthwise, where int8_conv_fits says
// no, and where y is empty. The form depends on the vector target and on `words`.
[[nodiscard]] int64_t int8_conv_prepared_bytes(const conv_dims& d,
                                               Int8Words words = Int8Words::fastest);
void int8_conv_prepare(void* prepared, const int8_t* w, const int32_t* bias, const conv_dims& d,
                       const Int8Result& result, parallel::ThreadPool& pool,
                       Int8Words words = Int8Words::fastest);
[[nodiscard]] int64_t int8_conv_prepared_workspace_bytes(const conv_dims& d, int threads);
void int8_conv_prepared(int8_t* y, const int8_t* x, const void* prepared, void* workspace,
                        const conv_dims& d, const Int8Result& result, parallel::ThreadPool& pool,
                        Int8Words words = Int8Words::fastest);

// The same of a transposed convolution: y[n,p,q,k] with the sum over the (c,h,w,r,s) with p =
// h*stride+r*dilation-pad, and likewise q. x: [n,h,w,c], w: [c,r,s,k/groups].
void int8_conv_transpose(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
                         void* workspace, const conv_dims& d, const Int8Result& result,
                         parallel::ThreadPool& pool, Int8Words words = Int8Words::fastest);
[[nodiscard]] int64_t int8_conv_transpose_workspace_bytes(const conv_dims& d, int threads);

// Whether sums of a window of this size fit int32 for all numbers; both functions need it.
[[nodiscard]] constexpr bool int8_conv_fits(const conv_dims& d) {
  return int64_t{d.r} * d.s * (d.c / d.groups) <= 65536;
}

}  // namespace thimble::simd
