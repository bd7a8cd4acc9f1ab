#include "ops/families/binary/broadcast.h"

#include <hwy/highway.h>

#include "ops/families/binary/binary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// The divisor is handled as a second operand, broadcast along all axes.
void broadcast_target(float* y, const float* x, const broadcast_dims& d,
                      parallel::ThreadPool& pool) {
  binary_dims pairs{};
  pairs.n = d.n;
  pairs.count = d.count;
  std::copy(d.size, d.size + d.count, pairs.size);
  std::copy(d.stride, d.stride + d.count, pairs.stride_a);
  const auto divisor = static_cast<float>(d.divisor);
  if (d.divisor == 1) {
    over_pairs(y, x, &divisor, pairs, pool, [](Vec v, Vec) HWY_ATTR { return v; });
  } else {
    over_pairs(y, x, &divisor, pairs, pool, [](Vec v, Vec by) HWY_ATTR { return hn::Div(v, by); });
  }
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(broadcast_target);

void broadcast_simd(float* y, const float* x, const broadcast_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(broadcast_target)(y, x, *d, pool);
}

}  // namespace thimble::ops
#endif
