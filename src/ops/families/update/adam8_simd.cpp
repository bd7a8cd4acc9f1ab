#include "ops/families/update/adam8_simd.h"

#include <hwy/highway.h>

#include "ops/families/update/block_codes-inl.h"
#include "ops/families/update/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// A step of Adam on a block of decoded moments.
class Adam8Step {
 public:
  Adam8Step(const adam_dims* d, const adam_factors& factors)
      : maximize_(d->maximize != 0),
        decays_(d->decoupled == 0 && d->weight_decay != 0.0),
        decay_(set(d->weight_decay)),
        shrink_(set(factors.shrink)),
        step_size_(set(factors.step_size)),
        root_(set(factors.root)),
        share1_(set(1.0 - d->beta1)),
        beta2_(set(d->beta2)),
        share2_(set(1.0 - d->beta2)),
        epsilon_(set(d->epsilon)) {}

  void run(float* out, const float* param, const float* grad, float* m_, float* v_,
           int count) const {
    const Adam8Step s = *this;
    over_vectors(0, count, [=](const auto& io, int64_t i) HWY_ATTR {
      const Vec p = io.load(param, i);
      // Stored moments use no fused multiply-add, because codes must not depend on the vector
      // target.
      Vec g = io.load(grad, i);
      if (s.maximize_) g = hn::Neg(g);
      if (s.decays_) g = hn::Add(g, hn::Mul(s.decay_, p));
      const Vec before = io.load(m_, i);
      const Vec m = hn::Add(before, hn::Mul(s.share1_, hn::Sub(g, before)));
      const Vec v = hn::Add(hn::Mul(s.beta2_, io.load(v_, i)), hn::Mul(hn::Mul(s.share2_, g), g));
      io.store(m, m_, i);
      io.store(v, v_, i);
      const Vec change =
          hn::Div(hn::Mul(s.step_size_, m), hn::MulAdd(s.root_, hn::Sqrt(v), s.epsilon_));
      io.store(hn::MulSub(s.shrink_, p, change), out, i);
    });
  }

 private:
  bool maximize_;
  bool decays_;
  Vec decay_;
  Vec shrink_;
  Vec step_size_;
  Vec root_;
  Vec share1_;
  Vec beta2_;
  Vec share2_;
  Vec epsilon_;
};

void adam8_target(float* const* out, const float* param, const float* grad, const float* lr,
                  const int32_t* step, const uint8_t* m_codes, const uint8_t* v_codes,
                  const float* m_scale, const float* v_scale, const adam_dims* d,
                  parallel::ThreadPool& pool) {
  const Adam8Step adam(d, adam_factors_at(d, static_cast<double>(*lr), *step));
  auto* const m_out = reinterpret_cast<uint8_t*>(out[1]);
  auto* const v_out = reinterpret_cast<uint8_t*>(out[2]);
  block_book m_book;
  block_book v_book;
  block_book_limits(&m_book, 1);
  block_book_limits(&v_book, 0);
  pool.run((d->blocks + kTaskBlocks - 1) / kTaskBlocks, [&](int64_t task) {
    CodedBlock m;
    CodedBlock v;
    const int end = std::min<int>(d->blocks, static_cast<int>(task + 1) * kTaskBlocks);
    for (int block = static_cast<int>(task) * kTaskBlocks; block < end; ++block) {
      const int begin = block * BLOCK_ELEMENTS;
      const int count = std::min(BLOCK_ELEMENTS, d->n - begin);
      open_block<true>(m, m_codes + begin, count, m_scale[block], m_book);
      open_block<false>(v, v_codes + begin, count, v_scale[block], v_book);
      adam.run(out[0] + begin, param + begin, grad + begin, m.values, v.values, count);
      out[3][block] = close_block<true>(m, m_out + begin, count, m_book);
      out[4][block] = close_block<false>(v, v_out + begin, count, v_book);
    }
  });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(adam8_target);

void adam8_simd(float* const* out, const float* param, const float* grad, const float* lr,
                const int32_t* step, const uint8_t* m_codes, const uint8_t* v_codes,
                const float* m_scale, const float* v_scale, const adam_dims* d,
                parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(adam8_target)
  (out, param, grad, lr, step, m_codes, v_codes, m_scale, v_scale, d, pool);
}

}  // namespace thimble::ops
#endif
