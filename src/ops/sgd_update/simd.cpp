#include <hwy/highway.h>

#include <algorithm>

#include "ops/families/update/block_codes-inl.h"
#include "ops/families/update/update-inl.h"
#include "ops/sgd_update/dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::sgd_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void sgd_update_target(float* const* out, const float* param, const float* grad, const float* lr,
                       const int32_t* step, const float* buffer, const sgd_dims* d,
                       parallel::ThreadPool& pool) {
  const F32 f;
  const Vec rate = hn::Set(f, *lr);
  const Vec momentum = hn::Set(f, static_cast<float>(d->momentum));
  const Vec share = hn::Set(f, static_cast<float>(1.0 - d->dampening));
  const Vec decay = hn::Set(f, static_cast<float>(d->weight_decay));
  const bool decays = d->weight_decay != 0.0;
  const bool first = *step == 1;
  const bool maximize = d->maximize != 0;
  const bool nesterov = d->nesterov != 0;
  float* const param_out = out[0];
  float* const buffer_out = buffer == nullptr ? nullptr : out[1];
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    Vec g = io.load(grad, i);
    if (maximize) g = hn::Neg(g);
    if (decays) g = hn::MulAdd(decay, p, g);
    if (buffer != nullptr) {
      const Vec b = first ? g : hn::MulAdd(momentum, io.load(buffer, i), hn::Mul(share, g));
      io.store(b, buffer_out, i);
      g = nesterov ? hn::MulAdd(momentum, b, g) : b;
    }
    io.store(hn::NegMulAdd(rate, g, p), param_out, i);
  });
}

void sgd8_update_target(float* const* out, const float* param, const float* grad, const float* lr,
                        const int32_t* step, const uint8_t* codes, const float* scale,
                        const sgd_dims* d, parallel::ThreadPool& pool) {
  const Vec rate = set(static_cast<double>(*lr));
  const Vec momentum = set(d->momentum);
  const Vec share = set(1.0 - d->dampening);
  const Vec decay = set(d->weight_decay);
  const bool decays = d->weight_decay != 0.0;
  const bool first = *step == 1;
  const bool maximize = d->maximize != 0;
  const bool nesterov = d->nesterov != 0;
  float* const param_out = out[0];
  auto* const codes_out = reinterpret_cast<uint8_t*>(out[1]);
  block_book book;
  block_book_limits(&book, 1);
  pool.run((d->blocks + kTaskBlocks - 1) / kTaskBlocks, [&](int64_t task) HWY_ATTR {
    CodedBlock state;
    const int end = std::min<int>(d->blocks, static_cast<int>(task + 1) * kTaskBlocks);
    for (int block = static_cast<int>(task) * kTaskBlocks; block < end; ++block) {
      const int begin = block * BLOCK_ELEMENTS;
      const int count = std::min(BLOCK_ELEMENTS, d->n - begin);
      open_block<true>(state, codes + begin, count, scale[block], book);
      float* const values = state.values;
      over_vectors(0, count, [=](const auto& io, int64_t i) HWY_ATTR {
        const Vec p = io.load(param + begin, i);
        // What is kept uses no fused multiply-add, because codes must not depend on the vector
        // target.
        Vec g = io.load(grad + begin, i);
        if (maximize) g = hn::Neg(g);
        if (decays) g = hn::Add(g, hn::Mul(decay, p));
        const Vec b = first ? g : hn::Add(hn::Mul(momentum, io.load(values, i)), hn::Mul(share, g));
        io.store(b, values, i);
        g = nesterov ? hn::MulAdd(momentum, b, g) : b;
        io.store(hn::NegMulAdd(rate, g, p), param_out + begin, i);
      });
      out[2][block] = close_block<true>(state, codes_out + begin, count, book);
    }
  });
}

}  // namespace thimble::ops::sgd_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::sgd_update_impl {
HWY_EXPORT(sgd_update_target);
HWY_EXPORT(sgd8_update_target);

void sgd_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                     const int32_t* step, const float* buffer, const sgd_dims* d,
                     parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(sgd_update_target)(out, param, grad, lr, step, buffer, d, pool);
}

void sgd8_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* step, const uint8_t* codes, const float* scale,
                      const sgd_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(sgd8_update_target)(out, param, grad, lr, step, codes, scale, d, pool);
}

}  // namespace thimble::ops::sgd_update_impl
#endif
