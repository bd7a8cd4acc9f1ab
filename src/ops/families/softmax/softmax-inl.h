// How softmax and log_softmax iterate over classes. Included once per vector target.

#if defined(THIMBLE_OPS_COMMON_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_COMMON_SOFTMAX_INL_H_
#undef THIMBLE_OPS_COMMON_SOFTMAX_INL_H_
#else
#define THIMBLE_OPS_COMMON_SOFTMAX_INL_H_
#endif

#include "ops/families/kernel/rows-inl.h"
#include "ops/families/reduction/axis_dims.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// For contiguous classes, calls row(at) for each row, which begins at element `at`. Otherwise calls
// columns(at, begin, end) for ranges of columns of each matrix, which begins at `at`.
template <class Columns, class Row>
HWY_INLINE void over_classes(const axis_dims& d, parallel::ThreadPool& pool, const Columns& columns,
                             const Row& row) {
  if (d.inner == 1) {
    over_rows(d.outer, d.size, pool, [&](int64_t r) HWY_ATTR { row(r * d.size); });
    return;
  }
  over_columns(d.outer, d.inner, pool, [&](int64_t matrix, int64_t begin, int64_t end) {
    columns(matrix * d.size * d.inner, begin, end);
  });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// Defines the kernels of such an op and its gradient from op_target and op_grad_target.
#undef SOFTMAX_SIMD_EXPORT
#if HWY_ONCE
#define SOFTMAX_SIMD_EXPORT(op)                                                                \
  namespace thimble::ops::op##_impl {                                                          \
    HWY_EXPORT(op##_target);                                                                   \
    HWY_EXPORT(op##_grad_target);                                                              \
    void op##_simd(float* y, const float* x, const axis_dims* d, parallel::ThreadPool& pool) { \
      HWY_DYNAMIC_DISPATCH(op##_target)(y, x, *d, pool);                                       \
    }                                                                                          \
    void op##_grad_simd(float* dx, const float* dy, const float* y, const axis_dims* d,        \
                        parallel::ThreadPool& pool) {                                          \
      HWY_DYNAMIC_DISPATCH(op##_grad_target)(dx, dy, y, *d, pool);                             \
    }                                                                                          \
  }
#else
#define SOFTMAX_SIMD_EXPORT(op)
#endif

#endif
