// Gradients of int8 convolutions from errors of int8: exact int32 and int64 sums of integers.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.h"
#include "simd/conv_dims.h"

namespace thimble::simd {

// Errors of int8, [n,p,q,k], which count as 0 where there are bits and theirs is not set.
struct Int8Error {
  const int8_t* e;
  const uint8_t* bits;  // or null
};

// Whether each channel of dx is a sum over one channel of e.
[[nodiscard]] constexpr bool int8_errors_by_channel(const conv_dims& d) {
  return d.groups == d.c && d.groups == d.k;
}

// dx[n,h,w,c] = round(v / dx_scale), dx_scale = largest |v| / 127, where v = waiting *
// waiting_unit + unit sum of e' w over the (p,q,r,s,k) that read the pixel, and e' = (e multiplier
// + 64) >> 7 of the channel k. By channel, e' is e, and each channel has its unit.
// w: [k,r,s,c/groups], multipliers: [k], at most 32640, or null by channel, units: one, or [c] by
// channel, waiting: [n,h,w,c] or null, dx: [n,h,w,c], may be waiting. workspace: the bytes below,
// of any alignment. Returns dx_scale. Results do not depend on the number of threads.
float int8_error_inputs(int8_t* dx, const Int8Error& error, const int16_t* multipliers,
                        const float* units, const int8_t* w, const int8_t* waiting,
                        float waiting_unit, void* workspace, const conv_dims& d,
                        parallel::ThreadPool& pool);
[[nodiscard]] int64_t int8_error_inputs_workspace_bytes(const conv_dims& d, int threads);

// dw[k,r,s,c] = units[k] sum over n, p, q of e (x - zero point). x: [n,h,w,c], units: [k], dw:
// [k,r,s,c/groups]. The rest as above.
void int8_error_weights(float* dw, const int8_t* x, int32_t zero_point, const Int8Error& error,
                        const float* units, void* workspace, const conv_dims& d,
                        parallel::ThreadPool& pool);
[[nodiscard]] int64_t int8_error_weights_workspace_bytes(const conv_dims& d, int threads);

// y = round(x / scale), scale = largest |x| / 127, which is returned. x, y: [n].
float int8_error_of_floats(int8_t* y, const float* x, int64_t n, void* workspace,
                           parallel::ThreadPool& pool);
// The same of the errors [rows,channels] times the units of their channels, plus what waits. units:
// padded to whole vectors, or one where channels is 1. dx may be e or waiting.
float int8_error_scaled(int8_t* dx, const Int8Error& error, const float* units,
                        const int8_t* waiting, float waiting_unit, void* workspace, int64_t rows,
                        int channels, parallel::ThreadPool& pool);
// The workspace of the two functions above for n elements, any number of channels and threads.
[[nodiscard]] int64_t int8_error_elements_workspace_bytes(int64_t n);

// sums[c] = units[c] sum over the rows of e[row,c].
void int8_error_sums_of_rows(float* sums, const Int8Error& error, const float* units, int64_t rows,
                             int channels, parallel::ThreadPool& pool);

}  // namespace thimble::simd
