#include <hwy/highway.h>

#include <cstring>

#include "ops/families/nary/nary-inl.h"
#include "ops/families/nary/nary_dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::where_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

using Mask = hn::Mask<F32>;

// Which of the next lanes() bytes are not 0; only the first `count` exist.
HWY_INLINE Mask load_flags(const uint8_t* from, int64_t count) {
  const hn::Rebind<uint8_t, F32> bytes;
  const hn::RebindToUnsigned<F32> words;
  HWY_ALIGN uint8_t some[HWY_LANES(float)] = {};
  if (count < lanes()) {
    std::memcpy(some, from, static_cast<size_t>(count));
    from = some;
  }
  const auto wide = hn::PromoteTo(words, hn::LoadU(bytes, from));
  return hn::RebindMask(F32(), hn::Ne(wide, hn::Zero(words)));
}

// The condition along one run.
class Condition {
 public:
  HWY_INLINE Condition(const uint8_t* from, ptrdiff_t at, int stride, int64_t count)
      : from_(from + at), moves_(stride == 1), count_(count) {}
  HWY_INLINE Mask operator()(int64_t i) const {
    if (moves_) return load_flags(from_ + i, count_ - i);
    return hn::Ne(hn::Set(F32(), static_cast<float>(*from_)), hn::Zero(F32()));
  }

 private:
  const uint8_t* from_;
  bool moves_;
  int64_t count_;
};

void where_target(float* y, const uint8_t* condition, const float* a, const float* b,
                  const nary_dims& d, parallel::ThreadPool& pool) {
  over_runs(d, pool, [&](int64_t begin, const ptrdiff_t* at, int64_t count) HWY_ATTR {
    const Condition holds(condition, at[0], d.stride[0][0], count);
    const Along first(a, at[1], d.stride[1][0]);
    const Along second(b, at[2], d.stride[2][0]);
    float* const to = y + begin;
    over_vectors(0, count, [=](auto io, int64_t i) HWY_ATTR {
      io.store(hn::IfThenElse(holds(i), first(io, i), second(io, i)), to, i);
    });
  });
}

void where_grad_target(float* dx, const uint8_t* condition, const float* dy, const nary_dims& d,
                       parallel::ThreadPool& pool) {
  const bool wanted = d.choice != 0;
  over_runs(d, pool, [&](int64_t begin, const ptrdiff_t* at, int64_t count) HWY_ATTR {
    const Condition holds(condition, at[0], d.stride[0][0], count);
    const float* const up = dy + begin;
    float* const to = dx + begin;
    over_vectors(0, count, [=](auto io, int64_t i) HWY_ATTR {
      const Vec value = io.load(up, i);
      const Mask mask = holds(i);
      io.store(wanted ? hn::IfThenElseZero(mask, value) : hn::IfThenZeroElse(mask, value), to, i);
    });
  });
}

}  // namespace thimble::ops::where_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::where_impl {
HWY_EXPORT(where_target);
HWY_EXPORT(where_grad_target);

void where_simd(float* y, const uint8_t* condition, const float* a, const float* b,
                const nary_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(where_target)(y, condition, a, b, *d, pool);
}

void where_grad_simd(float* dx, const uint8_t* condition, const float* dy, const nary_dims* d,
                     parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(where_grad_target)(dx, condition, dy, *d, pool);
}

}  // namespace thimble::ops::where_impl
#endif
