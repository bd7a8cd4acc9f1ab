#include <hwy/highway.h>

#include <algorithm>

#include "ops/families/kernel/elements-inl.h"
#include "ops/quantized_conv2d_weight_grad/kernel.h"
#include "simd/conv.h"
#include "simd/workspace.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::quantized_conv2d_weight_grad_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// y = x - zero point
void centered_target(float* y, const int8_t* x, int64_t n, int32_t zero_point,
                     parallel::ThreadPool& pool) {
  pool.run((n + kTileElements - 1) / kTileElements, [=](int64_t tile) HWY_ATTR {
    const F32 f;
    const hn::Rebind<int32_t, F32> d32;
    const hn::Rebind<int8_t, F32> d8;
    const auto zero = hn::Set(d32, zero_point);
    const int64_t end = std::min(n, (tile + 1) * kTileElements);
    int64_t i = tile * kTileElements;
    for (; i + lanes() <= end; i += lanes()) {
      const auto numbers = hn::PromoteTo(d32, hn::LoadU(d8, x + i));
      hn::StoreU(hn::ConvertTo(f, hn::Sub(numbers, zero)), f, y + i);
    }
    for (; i < end; ++i) y[i] = static_cast<float>(x[i] - zero_point);
  });
}

}  // namespace thimble::ops::quantized_conv2d_weight_grad_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::quantized_conv2d_weight_grad_impl {
HWY_EXPORT(centered_target);

namespace {

int64_t image_elements(const conv_dims& d) { return int64_t{d.n} * d.h * d.w * d.c; }

}  // namespace

int64_t weight_grad_workspace_bytes(const quantized_conv2d_weight_grad_dims& d, int threads) {
  simd::Workspace counter(nullptr);
  counter.take<float>(image_elements(d.conv));
  return counter.bytes() + simd::conv_weights_workspace_bytes(d.conv, threads);
}

// The image as f32 lies in the workspace while it is read, for every window and output channel.
void weight_grad_simd(float* dw, const int8_t* x, const float* dy, void* workspace,
                      const quantized_conv2d_weight_grad_dims* d, parallel::ThreadPool& pool) {
  simd::Workspace carver(workspace);
  const int64_t n = image_elements(d->conv);
  auto* const centered = carver.take<float>(n);
  HWY_DYNAMIC_DISPATCH(centered_target)(centered, x, n, d->zero_point, pool);
  simd::conv_weights(dw, centered, dy, static_cast<char*>(workspace) + carver.used(), d->conv,
                     pool);
}

}  // namespace thimble::ops::quantized_conv2d_weight_grad_impl
#endif
