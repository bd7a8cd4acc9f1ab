#include "ops/families/extremum/extremum.h"

#include <hwy/highway.h>

#include "ops/families/nary/nary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

struct Larger {
  static HWY_INLINE auto comes_before(Vec a, Vec b) { return hn::Gt(a, b); }
};
struct Smaller {
  static HWY_INLINE auto comes_before(Vec a, Vec b) { return hn::Lt(a, b); }
};

template <class E>
void of_two(float* y, const float* a, const float* b, const nary_dims& d,
            parallel::ThreadPool& pool) {
  over_runs(d, pool, [&](int64_t begin, const ptrdiff_t* at, int64_t count) HWY_ATTR {
    const Along first(a, at[0], d.stride[0][0]);
    const Along second(b, at[1], d.stride[1][0]);
    float* const to = y + begin;
    over_vectors(0, count, [=](auto io, int64_t i) HWY_ATTR {
      const Vec x = first(io, i);
      const Vec other = second(io, i);
      io.store(hn::IfThenElse(hn::Or(E::comes_before(x, other), hn::IsNaN(x)), x, other), to, i);
    });
  });
}

template <class E>
void of_two_grad(float* dx, const float* dy, const float* a, const float* b, const nary_dims& d,
                 parallel::ThreadPool& pool) {
  over_runs(d, pool, [&](int64_t begin, const ptrdiff_t* at, int64_t count) HWY_ATTR {
    const Along first(a, at[1], d.stride[1][0]);
    const Along second(b, at[2], d.stride[2][0]);
    const float* const up = dy + begin;
    float* const to = dx + begin;
    over_vectors(0, count, [=](auto io, int64_t i) HWY_ATTR {
      const Vec x = first(io, i);
      const Vec other = second(io, i);
      const Vec whole = io.load(up, i);
      const Vec half = hn::IfThenElseZero(hn::Eq(x, other), hn::Mul(whole, hn::Set(F32(), 0.5F)));
      io.store(hn::IfThenElse(E::comes_before(x, other), whole, half), to, i);
    });
  });
}

void maximum_target(float* y, const float* a, const float* b, const nary_dims& d,
                    parallel::ThreadPool& pool) {
  of_two<Larger>(y, a, b, d, pool);
}
void maximum_grad_target(float* dx, const float* dy, const float* a, const float* b,
                         const nary_dims& d, parallel::ThreadPool& pool) {
  of_two_grad<Larger>(dx, dy, a, b, d, pool);
}

void minimum_target(float* y, const float* a, const float* b, const nary_dims& d,
                    parallel::ThreadPool& pool) {
  of_two<Smaller>(y, a, b, d, pool);
}
void minimum_grad_target(float* dx, const float* dy, const float* a, const float* b,
                         const nary_dims& d, parallel::ThreadPool& pool) {
  of_two_grad<Smaller>(dx, dy, a, b, d, pool);
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(maximum_target);
HWY_EXPORT(maximum_grad_target);
HWY_EXPORT(minimum_target);
HWY_EXPORT(minimum_grad_target);

void maximum_simd(float* y, const float* a, const float* b, const nary_dims* d,
                  parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(maximum_target)(y, a, b, *d, pool);
}

void maximum_grad_simd(float* dx, const float* dy, const float* a, const float* b,
                       const nary_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(maximum_grad_target)(dx, dy, a, b, *d, pool);
}

void minimum_simd(float* y, const float* a, const float* b, const nary_dims* d,
                  parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(minimum_target)(y, a, b, *d, pool);
}

void minimum_grad_simd(float* dx, const float* dy, const float* a, const float* b,
                       const nary_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(minimum_grad_target)(dx, dy, a, b, *d, pool);
}

}  // namespace thimble::ops
#endif
