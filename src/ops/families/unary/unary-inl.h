// Fast kernels of the unary family: a folder's simd.cpp writes the formula and its derivative on
// vectors. Included once per vector target.
//
//   UNARY_SIMD(op, value)             value: an expression in x, the constants a and b, the tag f
//   UNARY_GRAD_SIMD(op, kept, value)  value: likewise in dy and `kept`, which is x or y
//   UNARY_SIMD_EXPORT(op)             after HWY_AFTER_NAMESPACE: both of them on the best target
//   UNARY_SIMD_EXPORT_LINEAR(op)      likewise for an op without a gradient op of its own

#if defined(THIMBLE_OPS_COMMON_UNARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_COMMON_UNARY_INL_H_
#undef THIMBLE_OPS_COMMON_UNARY_INL_H_
#else
#define THIMBLE_OPS_COMMON_UNARY_INL_H_
#endif

#include "ops/families/kernel/elements-inl.h"
#include "ops/families/unary/unary_dims.h"
#include "simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {
// The formulas use these names.
namespace math = thimble::simd::HWY_NAMESPACE;
}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef UNARY_SIMD
#define UNARY_SIMD(op, value)                                                                     \
  void op##_target(float* y_, const float* x_, const unary_dims* d, parallel::ThreadPool& pool) { \
    const F32 f;                                                                                  \
    [[maybe_unused]] const Vec a = hn::Set(f, d->a);                                              \
    [[maybe_unused]] const Vec b = hn::Set(f, d->b);                                              \
    over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {                           \
      const Vec x = io.load(x_, i);                                                               \
      io.store((value), y_, i);                                                                   \
    });                                                                                           \
  }

#undef UNARY_GRAD_SIMD
#define UNARY_GRAD_SIMD(op, kept, value)                                                       \
  void op##_grad_target(float* dx_, const float* dy_, const float* kept_, const unary_dims* d, \
                        parallel::ThreadPool& pool) {                                          \
    const F32 f;                                                                               \
    [[maybe_unused]] const Vec a = hn::Set(f, d->a);                                           \
    [[maybe_unused]] const Vec b = hn::Set(f, d->b);                                           \
    over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {                        \
      const Vec dy = io.load(dy_, i);                                                          \
      const Vec kept = io.load(kept_, i);                                                      \
      io.store((value), dx_, i);                                                               \
    });                                                                                        \
  }

#undef UNARY_SIMD_EXPORT
#undef UNARY_SIMD_EXPORT_LINEAR
#if HWY_ONCE
#define UNARY_SIMD_EXPORT_LINEAR(op)                                                            \
  namespace thimble::ops::op##_impl {                                                           \
    HWY_EXPORT(op##_target);                                                                    \
    void op##_simd(float* y, const float* x, const unary_dims* d, parallel::ThreadPool& pool) { \
      HWY_DYNAMIC_DISPATCH(op##_target)(y, x, d, pool);                                         \
    }                                                                                           \
  }
#define UNARY_SIMD_EXPORT(op)                                                               \
  UNARY_SIMD_EXPORT_LINEAR(op)                                                              \
  namespace thimble::ops::op##_impl {                                                       \
    HWY_EXPORT(op##_grad_target);                                                           \
    void op##_grad_simd(float* dx, const float* dy, const float* kept, const unary_dims* d, \
                        parallel::ThreadPool& pool) {                                       \
      HWY_DYNAMIC_DISPATCH(op##_grad_target)(dx, dy, kept, d, pool);                        \
    }                                                                                       \
  }
#else
#define UNARY_SIMD_EXPORT_LINEAR(op)
#define UNARY_SIMD_EXPORT(op)
#endif

#endif
