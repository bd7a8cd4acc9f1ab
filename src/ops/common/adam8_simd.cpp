#include "ops/common/adam8_simd.h"

#include <cstring>

#include "ops/common/block_codes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/common/adam8_simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

using I32 = hn::Rebind<int32_t, F32>;
using U8 = hn::Rebind<uint8_t, F32>;

// Blocks of one task.
constexpr int kTaskBlocks = static_cast<int>(kTileElements) / BLOCK_ELEMENTS;

// A block of one moment, opened.
struct Moment {
  alignas(64) float values[BLOCK_ELEMENTS];
  alignas(64) uint8_t codes[BLOCK_ELEMENTS];
};

// values = scale * what the codes mean; nothing where there is no element.
void open_block(Moment& moment, const uint8_t* codes, int count, float scale_of,
                const block_book& book) {
  const F32 f;
  if (count < BLOCK_ELEMENTS) std::memset(moment.codes, 0, BLOCK_ELEMENTS);
  std::memcpy(moment.codes, codes, static_cast<size_t>(count));
  // One by one: several loads a cycle are no slower than gathering.
  for (int i = 0; i < BLOCK_ELEMENTS; ++i) moment.values[i] = book.value[moment.codes[i]];
  const Vec scale = hn::Set(f, scale_of);
  for (int i = 0; i < BLOCK_ELEMENTS; i += lanes()) {
    hn::Store(hn::Mul(scale, hn::Load(f, moment.values + i)), f, moment.values + i);
  }
}

// The codes of magnitudes, as numbers; as block_encode.
HWY_INLINE Vec codes_of(Vec size, const block_book& book) {
  const F32 f;
  Vec codes = hn::Set(f, book.codes[0]);
  Vec inverse = hn::Zero(f);
  for (int level = 1; level < BLOCK_LEVELS; ++level) {
    const auto reached = hn::Ge(size, hn::Set(f, book.threshold[level]));
    codes = hn::IfThenElse(reached, hn::Set(f, book.codes[level]), codes);
    inverse = hn::IfThenElse(reached, hn::Set(f, book.inverse[level]), inverse);
  }
  const Vec start = hn::Set(f, BLOCK_START);
  const Vec place = hn::Mul(codes, hn::Sub(hn::Mul(inverse, size), start));
  const Vec last = hn::Sub(codes, hn::Set(f, 1.0F));
  const Vec in_level = hn::Trunc(hn::Max(hn::Min(place, last), hn::Zero(f)));
  return hn::Add(hn::Sub(codes, hn::Set(f, book.unsigned_by)), in_level);
}

// Finds the codes of the values; returns their scale.
template <bool kHasSign>
float close_block(Moment& moment, uint8_t* codes, int count, const block_book& book) {
  const F32 f;
  Vec tops = hn::Zero(f);
  for (int i = 0; i < BLOCK_ELEMENTS; i += lanes()) {
    tops = hn::Max(tops, hn::Abs(hn::Load(f, moment.values + i)));
  }
  const float top = hn::GetLane(hn::MaxOfLanes(f, tops));
  const Vec inverse = hn::Set(f, top > 0.0F ? 1.0F / top : 0.0F);
  for (int i = 0; i < BLOCK_ELEMENTS; i += lanes()) {
    const Vec x = hn::Mul(hn::Load(f, moment.values + i), inverse);
    Vec code = codes_of(hn::Abs(x), book);
    if (kHasSign) {
      const Vec negative = hn::Sub(set(256.0), hn::Min(code, set(127.0)));
      const auto turns = hn::And(hn::Lt(x, hn::Zero(f)), hn::Gt(code, hn::Zero(f)));
      code = hn::IfThenElse(turns, negative, code);
    }
    hn::StoreU(hn::DemoteTo(U8(), hn::ConvertTo(I32(), code)), U8(), moment.codes + i);
  }
  std::memcpy(codes, moment.codes, static_cast<size_t>(count));
  return top;
}

// What a step of Adam does to a block, its moments open.
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
      // No fused multiply-adds in what is kept: codes must not depend on the vector target.
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
                  exec::ThreadPool& pool) {
  const Adam8Step adam(d, adam_factors_at(d, static_cast<double>(*lr), *step));
  auto* const m_out = reinterpret_cast<uint8_t*>(out[1]);
  auto* const v_out = reinterpret_cast<uint8_t*>(out[2]);
  block_book m_book;
  block_book v_book;
  block_book_fill(&m_book, 1);
  block_book_fill(&v_book, 0);
  pool.run((d->blocks + kTaskBlocks - 1) / kTaskBlocks, [&](int64_t task) {
    Moment m;
    Moment v;
    const int end = std::min<int>(d->blocks, static_cast<int>(task + 1) * kTaskBlocks);
    for (int block = static_cast<int>(task) * kTaskBlocks; block < end; ++block) {
      const int begin = block * BLOCK_ELEMENTS;
      const int count = std::min(BLOCK_ELEMENTS, d->n - begin);
      open_block(m, m_codes + begin, count, m_scale[block], m_book);
      open_block(v, v_codes + begin, count, v_scale[block], v_book);
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
                exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(adam8_target)
  (out, param, grad, lr, step, m_codes, v_codes, m_scale, v_scale, d, pool);
}

}  // namespace thimble::ops
#endif
