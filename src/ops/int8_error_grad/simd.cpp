#include <hwy/highway.h>

#include <algorithm>

#include "ops/families/kernel/ref.h"
#include "ops/int8_error_grad/kernel.h"

// The reference's loops, compiled for every vector target: sums are taken side by side, each in
// its order, so that bits are the same.
HWY_BEFORE_NAMESPACE();
namespace thimble::ops::int8_error_grad_impl::HWY_NAMESPACE {
using real = float;
#include "ops/error_int8/rounding.h"
#include "ops/int8_error_grad/parts.h"

void input_grad_target(int8_t* dx, float* dx_scale, const int8_t* e, const float* scale,
                       const float* factors, const int8_t* w, const uint8_t* bits,
                       const int8_t* waiting, const float* waiting_scale, float* largest,
                       const int8_error_conv_dims& d, parallel::ThreadPool& pool) {
  const int8_error_source from{e, factors, bits, *scale, d.factor_step};
  const int rows = d.conv.n * d.conv.h;
  pool.run(rows, [&](int64_t row) {
    largest[row] = int8_error_row(nullptr, 0, 0, &from, w, waiting, waiting_scale, &d.conv,
                                  static_cast<int>(row));
  });
  const float unit = error_int8_most(0, largest, rows) / 127;
  pool.run(rows, [&](int64_t row) {
    int8_error_row(dx, 0, unit, &from, w, waiting, waiting_scale, &d.conv, static_cast<int>(row));
  });
  *dx_scale = unit;
}

// A task computes whole groups of depthwise channels.
void weight_grad_target(float* dw, const int8_t* x, const int8_t* e, const float* scale,
                        const float* factors, const uint8_t* bits, const int8_error_conv_dims& d,
                        parallel::ThreadPool& pool) {
  const int8_error_source from{e, factors, bits, *scale, d.factor_step};
  const int k = d.conv.k;
  const int step = d.conv.groups == 1 ? 1 : INT8_ERROR_CHUNK;
  pool.run((k + step - 1) / step, [&](int64_t task) {
    const auto first = static_cast<int>(task) * step;
    int8_error_weights(dw, x, &from, &d, first, std::min(k, first + step));
  });
}

}  // namespace thimble::ops::int8_error_grad_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::int8_error_grad_impl {
HWY_EXPORT(input_grad_target);
HWY_EXPORT(weight_grad_target);

int64_t input_grad_workspace_bytes(const int8_error_conv_dims& d) {
  return int64_t{d.conv.n} * d.conv.h * static_cast<int64_t>(sizeof(float));
}

void input_grad_simd(int8_t* dx, float* dx_scale, const int8_t* e, const float* scale,
                     const float* factors, const int8_t* w, const uint8_t* bits,
                     const int8_t* waiting, const float* waiting_scale, void* workspace,
                     const int8_error_conv_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(input_grad_target)
  (dx, dx_scale, e, scale, factors, w, bits, waiting, waiting_scale, static_cast<float*>(workspace),
   *d, pool);
}

void weight_grad_simd(float* dw, const int8_t* x, const int8_t* e, const float* scale,
                      const float* factors, const uint8_t* bits, const int8_error_conv_dims* d,
                      parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(weight_grad_target)(dw, x, e, scale, factors, bits, *d, pool);
}

}  // namespace thimble::ops::int8_error_grad_impl
#endif
