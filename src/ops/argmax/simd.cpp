#include "ops/argmax/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/argmax/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// The first i < n for which matches(vector of x[i...]) holds; n where there is none.
template <class Matches>
HWY_INLINE int first_match(const float* x, int n, const Matches& matches) {
  const F32 f;
  int i = 0;
  for (; i + lanes() <= n; i += lanes()) {
    const intptr_t lane = hn::FindFirstTrue(f, matches(hn::LoadU(f, x + i)));
    if (lane >= 0) return i + static_cast<int>(lane);
  }
  if (i == n) return n;
  // The lanes behind the last element repeat the first, which did not match.
  const LastVector io(n - i);
  const Vec rest = io.present(io.load(x, i), hn::Set(f, x[0]));
  const intptr_t lane = hn::FindFirstTrue(f, matches(rest));
  return lane >= 0 ? i + static_cast<int>(lane) : n;
}

// row_max may overlook NaN: where it does not find its own result, or the result is NaN, the first
// NaN is what is looked for.
int argmax_of_row(const float* x, int n) {
  const F32 f;
  Vec any_nan = hn::Zero(f);
  over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
    const Vec value = io.load(x, i);
    any_nan = hn::Or(any_nan, hn::Sub(value, value));  // 0, or NaN for NaN and the infinite
  });
  if (!hn::AllTrue(f, hn::Eq(any_nan, any_nan))) {
    const int nan = first_match(x, n, [](Vec v) HWY_ATTR { return hn::IsNaN(v); });
    if (nan < n) return nan;
  }
  const Vec largest = hn::Set(f, row_max(x, n));
  return first_match(x, n, [&](Vec v) HWY_ATTR { return hn::Eq(v, largest); });
}

void argmax_target(int32_t* y, const float* x, const axis_dims& d, exec::ThreadPool& pool) {
  over_rows(d.outer, d.size, pool,
            [&](int64_t r) { y[r] = argmax_of_row(x + r * d.size, d.size); });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(argmax_target);

void argmax_simd(int32_t* y, const float* x, const axis_dims* d, exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(argmax_target)(y, x, *d, pool);
}

}  // namespace thimble::ops
#endif
