// Chooses how to compute the weight gradient of a convolution, and adds its partial sums.

#include "simd/conv_weights.h"

#include <algorithm>

#include "simd/conv.h"
#include "simd/conv_plan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/conv_weights.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "simd/conv_weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// dw[i] += the partial sums, in their order. partial_sums: [count, weights]
void add_partial_sums(float* dw, const float* partial_sums, int count, int64_t weights,
                      exec::ThreadPool& pool) {
  constexpr int64_t kPerTask = 8192;
  const F32 d;
  pool.run(divide_up(weights, kPerTask), [&](int64_t task) {
    const int64_t first = task * kPerTask;
    const int64_t last = std::min(weights, first + kPerTask);
    for (int p = 0; p < count; ++p) {
      const float* from = partial_sums + p * weights;
      int64_t i = first;
      for (; i + lanes() <= last; i += lanes()) {
        hn::StoreU(hn::Add(hn::LoadU(d, dw + i), hn::LoadU(d, from + i)), d, dw + i);
      }
      for (; i < last; ++i) dw[i] += from[i];
    }
  });
}

void run_conv_weights(float* dw, const float* x, const float* dy, void* workspace,
                      const conv_dims& d, exec::ThreadPool& pool) {
  Workspace carver(workspace);
  const WeightSplit split = split_weights(d);
  auto* partial_sums = carver.take<float>((split.partials - 1) * conv_weight_count(d));
  conv_weights_wide(dw, x, dy, partial_sums, d, pool);
  if (split.partials > 1) {
    add_partial_sums(dw, partial_sums, split.partials - 1, conv_weight_count(d), pool);
  }
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::simd {
HWY_EXPORT(run_conv_weights);

int64_t conv_weights_workspace_bytes(const conv_dims& dims, int /*threads*/) {
  const conv_dims d = flattened(dims);
  if (conv_weight_count(d) <= 0) return 0;
  Workspace counter(nullptr);
  counter.take<float>((split_weights(d).partials - 1) * conv_weight_count(d));
  return counter.bytes();
}

void conv_weights(float* dw, const float* x, const float* dy, void* workspace,
                  const conv_dims& dims, exec::ThreadPool& pool) {
  const conv_dims d = flattened(dims);
  if (conv_weight_count(d) <= 0) return;
  HWY_DYNAMIC_DISPATCH(run_conv_weights)(dw, x, dy, workspace, d, pool);
}

}  // namespace thimble::simd
#endif
