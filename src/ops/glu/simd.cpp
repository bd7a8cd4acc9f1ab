#include <hwy/highway.h>

#include "ops/families/kernel/rows-inl.h"
#include "ops/families/reduction/axis_dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::glu_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

HWY_INLINE Vec number(float value) { return hn::Set(F32(), value); }

HWY_INLINE Vec logistic(Vec x) {
  const Vec one = number(1.0F);
  return hn::Div(one, hn::Add(one, hn::Exp(F32(), hn::Neg(x))));
}

// exp(-x^2 / 2) and the normal distribution function of x.
struct Normal {
  Vec bell;
  Vec below;
};
HWY_INLINE Normal normal(Vec x) {
  const Vec magnitude = hn::Mul(hn::Abs(x), number(0.70710678F));
  const Vec t = hn::Div(number(1.0F), hn::MulAdd(number(0.3275911F), magnitude, number(1.0F)));
  Vec sum = hn::MulAdd(number(1.061405429F), t, number(-1.453152027F));
  sum = hn::MulAdd(sum, t, number(1.421413741F));
  sum = hn::MulAdd(sum, t, number(-0.284496736F));
  sum = hn::MulAdd(sum, t, number(0.254829592F));
  const Vec bell = hn::Exp(F32(), hn::Neg(hn::Mul(magnitude, magnitude)));
  const Vec tail = hn::Mul(hn::Mul(number(0.5F), bell), hn::Mul(sum, t));
  return {bell, hn::IfThenElse(hn::Lt(x, hn::Zero(F32())), tail, hn::Sub(number(1.0F), tail))};
}

struct Gradients {
  Vec a;
  Vec b;
};

struct Glu {
  static HWY_INLINE Vec value(Vec a, Vec b) { return hn::Mul(a, logistic(b)); }
  static HWY_INLINE Gradients gradients(Vec a, Vec b, Vec dy) {
    const Vec gate = logistic(b);
    const Vec da = hn::Mul(dy, gate);
    return {da, hn::Mul(hn::Mul(da, a), hn::Sub(number(1.0F), gate))};
  }
};

struct Swiglu {
  static HWY_INLINE Vec value(Vec a, Vec b) { return hn::Mul(hn::Mul(a, logistic(a)), b); }
  static HWY_INLINE Gradients gradients(Vec a, Vec b, Vec dy) {
    const Vec gate = logistic(a);
    const Vec slope = hn::MulAdd(a, hn::Sub(number(1.0F), gate), number(1.0F));
    return {hn::Mul(hn::Mul(dy, b), hn::Mul(gate, slope)), hn::Mul(dy, hn::Mul(a, gate))};
  }
};

struct Geglu {
  static HWY_INLINE Vec value(Vec a, Vec b) { return hn::Mul(hn::Mul(a, normal(a).below), b); }
  static HWY_INLINE Gradients gradients(Vec a, Vec b, Vec dy) {
    const Normal n = normal(a);
    const Vec density = hn::Mul(number(0.39894228F), n.bell);
    return {hn::Mul(hn::Mul(dy, b), hn::MulAdd(a, density, n.below)),
            hn::Mul(dy, hn::Mul(a, n.below))};
  }
};

// Calls part(row, begin, end) for pieces of all runs.
template <class Part>
HWY_INLINE void over_parts(const axis_dims& d, parallel::ThreadPool& pool, const Part& part) {
  constexpr int64_t kMost = 4096;
  if (d.inner <= kMost) {
    over_rows(d.outer, d.inner, pool, [&](int64_t r) HWY_ATTR { part(r, 0, d.inner); });
    return;
  }
  const int64_t parts = (d.inner + kMost - 1) / kMost;
  pool.run(d.outer * parts, [&](int64_t i) HWY_ATTR {
    const int64_t begin = i % parts * kMost;
    part(i / parts, begin, std::min<int64_t>(d.inner, begin + kMost));
  });
}

template <class T>
void gated(float* y, const float* x, const axis_dims& d, parallel::ThreadPool& pool) {
  over_parts(d, pool, [&](int64_t r, int64_t begin, int64_t end) HWY_ATTR {
    const float* const a = x + 2 * r * d.inner;
    const float* const b = a + d.inner;
    float* const to = y + r * d.inner;
    over_vectors(begin, end, [=](auto io, int64_t i) HWY_ATTR {
      io.store(T::value(io.load(a, i), io.load(b, i)), to, i);
    });
  });
}

template <class T>
void gated_grad(float* dx, const float* dy, const float* x, const axis_dims& d,
                parallel::ThreadPool& pool) {
  over_parts(d, pool, [&](int64_t r, int64_t begin, int64_t end) HWY_ATTR {
    const float* const a = x + 2 * r * d.inner;
    const float* const b = a + d.inner;
    const float* const up = dy + r * d.inner;
    float* const to_a = dx + 2 * r * d.inner;
    float* const to_b = to_a + d.inner;
    over_vectors(begin, end, [=](auto io, int64_t i) HWY_ATTR {
      const Gradients g = T::gradients(io.load(a, i), io.load(b, i), io.load(up, i));
      io.store(g.a, to_a, i);
      io.store(g.b, to_b, i);
    });
  });
}

void glu_target(float* y, const float* x, const axis_dims& d, parallel::ThreadPool& pool) {
  gated<Glu>(y, x, d, pool);
}
void glu_grad_target(float* dx, const float* dy, const float* x, const axis_dims& d,
                     parallel::ThreadPool& pool) {
  gated_grad<Glu>(dx, dy, x, d, pool);
}
void swiglu_target(float* y, const float* x, const axis_dims& d, parallel::ThreadPool& pool) {
  gated<Swiglu>(y, x, d, pool);
}
void swiglu_grad_target(float* dx, const float* dy, const float* x, const axis_dims& d,
                        parallel::ThreadPool& pool) {
  gated_grad<Swiglu>(dx, dy, x, d, pool);
}
void geglu_target(float* y, const float* x, const axis_dims& d, parallel::ThreadPool& pool) {
  gated<Geglu>(y, x, d, pool);
}
void geglu_grad_target(float* dx, const float* dy, const float* x, const axis_dims& d,
                       parallel::ThreadPool& pool) {
  gated_grad<Geglu>(dx, dy, x, d, pool);
}

}  // namespace thimble::ops::glu_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::glu_impl {
HWY_EXPORT(glu_target);
HWY_EXPORT(glu_grad_target);
HWY_EXPORT(swiglu_target);
HWY_EXPORT(swiglu_grad_target);
HWY_EXPORT(geglu_target);
HWY_EXPORT(geglu_grad_target);

void glu_simd(float* y, const float* x, const axis_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(glu_target)(y, x, *d, pool);
}
void glu_grad_simd(float* dx, const float* dy, const float* x, const axis_dims* d,
                   parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(glu_grad_target)(dx, dy, x, *d, pool);
}
void swiglu_simd(float* y, const float* x, const axis_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(swiglu_target)(y, x, *d, pool);
}
void swiglu_grad_simd(float* dx, const float* dy, const float* x, const axis_dims* d,
                      parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(swiglu_grad_target)(dx, dy, x, *d, pool);
}
void geglu_simd(float* y, const float* x, const axis_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(geglu_target)(y, x, *d, pool);
}
void geglu_grad_simd(float* dx, const float* dy, const float* x, const axis_dims* d,
                     parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(geglu_grad_target)(dx, dy, x, *d, pool);
}

}  // namespace thimble::ops::glu_impl
#endif
