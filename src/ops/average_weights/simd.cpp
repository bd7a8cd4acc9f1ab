#include <hwy/highway.h>

#include "ops/average_weights/dims.h"
#include "ops/families/update/update-inl.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::average_weights_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void average_weights_target(float* average_out, const float* average, const float* param,
                            const int32_t* step, const average_weights_dims* d,
                            parallel::ThreadPool& pool) {
  if (*step == 0) return;
  const bool first = *step == 1;
  const Vec share = set(1.0 - d->decay);
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    io.store(first ? p : moved(io.load(average, i), share, p), average_out, i);
  });
}

}  // namespace thimble::ops::average_weights_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::average_weights_impl {
HWY_EXPORT(average_weights_target);

void average_weights_simd(float* average_out, const float* average, const float* param,
                          const int32_t* step, const average_weights_dims* d,
                          parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(average_weights_target)(average_out, average, param, step, d, pool);
}

}  // namespace thimble::ops::average_weights_impl
#endif
