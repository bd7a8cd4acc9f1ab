#include "ops/families/update/adam8_simd.h"

#include <hwy/highway.h>

#include <cstring>

#include "ops/families/update/block_codes.h"
#include "ops/families/update/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

using I32 = hn::Rebind<int32_t, F32>;
using U8 = hn::Rebind<uint8_t, F32>;
using I8 = hn::Rebind<int8_t, F32>;

// Blocks per task.
constexpr int kTaskBlocks = static_cast<int>(kTileElements) / BLOCK_ELEMENTS;

// A block of one moment, decoded.
struct Moment {
  alignas(64) float values[BLOCK_ELEMENTS];
  alignas(64) uint8_t codes[BLOCK_ELEMENTS];
};

// x times the factor where the condition holds, else x.
template <class Mask>
HWY_INLINE Vec times_where(Mask condition, Vec x, float factor) {
  return hn::IfThenElse(condition, hn::Mul(x, hn::Set(F32(), factor)), x);
}

// Values of codes: block_code_value for vectors, with the same operations.
template <bool kHasSign>
HWY_INLINE Vec meaning(const uint8_t* codes, const block_book& book) {
  const F32 f;
  Vec code;
  if constexpr (kHasSign) {
    const I8 bytes;
    code = hn::ConvertTo(
        f, hn::PromoteTo(I32(), hn::Load(bytes, reinterpret_cast<const int8_t*>(codes))));
  } else {
    code = hn::ConvertTo(f, hn::PromoteTo(I32(), hn::Load(U8(), codes)));
  }
  const Vec size = hn::Abs(code);
  Vec place = hn::Add(size, hn::Set(f, book.shift + 0.5F));
  Vec decade = hn::Set(f, book.lowest);
  const auto four = hn::Ge(place, hn::Set(f, 16.0F));
  place = times_where(four, place, 0.0625F);
  decade = times_where(four, decade, 1e4F);
  const auto two = hn::Ge(place, hn::Set(f, 4.0F));
  place = times_where(two, place, 0.25F);
  decade = times_where(two, decade, 1e2F);
  const auto more = hn::Ge(place, hn::Set(f, 2.0F));
  place = times_where(more, place, 0.5F);
  decade = times_where(more, decade, 10.0F);
  const Vec part = hn::Mul(hn::Set(f, 0.9F), hn::Sub(place, hn::Set(f, 1.0F)));
  Vec value = hn::Mul(decade, hn::Add(hn::Set(f, 0.1F), part));
  // The code of 1 is -128 as a signed byte.
  value = hn::IfThenElse(hn::Eq(size, hn::Set(f, book.one)), hn::Set(f, 1.0F), value);
  value = hn::IfThenZeroElse(hn::Eq(size, hn::Zero(f)), value);
  if constexpr (!kHasSign) return value;
  const auto negative = hn::And(hn::Lt(code, hn::Zero(f)), hn::Lt(size, hn::Set(f, book.one)));
  return hn::IfThenElse(negative, hn::Neg(value), value);
}

// values = scale * values of the codes; writes nothing after the last element.
template <bool kHasSign>
void open_block(Moment& moment, const uint8_t* codes, int count, float scale_of,
                const block_book& book) {
  const F32 f;
  if (count < BLOCK_ELEMENTS) std::memset(moment.codes, 0, BLOCK_ELEMENTS);
  std::memcpy(moment.codes, codes, static_cast<size_t>(count));
  const Vec scale = hn::Set(f, scale_of);
  for (int i = 0; i < BLOCK_ELEMENTS; i += lanes()) {
    hn::Store(hn::Mul(scale, meaning<kHasSign>(moment.codes + i, book)), f, moment.values + i);
  }
}

// block_encode for vectors, with the same operations.
template <bool kHasSign>
HWY_INLINE void encode(Vec x, uint8_t* codes, const block_book& book) {
  const F32 f;
  const I32 whole;
  const Vec size = hn::Abs(x);
  const auto threshold = [&](int level) HWY_ATTR { return hn::Set(f, book.threshold[level]); };
  const auto four = hn::Lt(size, threshold(3));
  const auto two = hn::Lt(size, hn::IfThenElse(four, threshold(5), threshold(1)));
  const auto more =
      hn::Lt(size, hn::IfThenElse(four, hn::IfThenElse(two, threshold(6), threshold(4)),
                                  hn::IfThenElse(two, threshold(2), threshold(0))));
  Vec place = times_where(four, size, 1e4F);
  Vec count = times_where(four, hn::Set(f, book.top), 0.0625F);
  place = times_where(two, place, 1e2F);
  count = times_where(two, count, 0.25F);
  place = times_where(more, place, 10.0F);
  count = times_where(more, count, 0.5F);
  place = hn::Sub(hn::Mul(place, hn::Set(f, BLOCK_STRETCH)), hn::Set(f, BLOCK_START));
  place = hn::Max(hn::Min(place, hn::Set(f, BLOCK_LAST)), hn::Zero(f));
  Vec code = hn::Sub(hn::Add(count, hn::Mul(count, place)), hn::Set(f, book.shift));
  code = hn::IfThenElse(hn::Ge(x, hn::Set(f, book.largest)), hn::Set(f, book.one), code);
  code = hn::IfThenElseZero(hn::Ge(size, hn::Set(f, book.smallest)), code);
  auto bytes = hn::ConvertTo(whole, code);
  if constexpr (kHasSign) {
    const auto sign = hn::BroadcastSignBit(hn::BitCast(whole, x));
    bytes = hn::And(hn::Sub(hn::Xor(bytes, sign), sign), hn::Set(whole, 255));
  }
  hn::Store(hn::DemoteTo(U8(), bytes), U8(), codes);
}

// Encodes the values and returns their scale.
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
    encode<kHasSign>(hn::Mul(hn::Load(f, moment.values + i), inverse), moment.codes + i, book);
  }
  std::memcpy(codes, moment.codes, static_cast<size_t>(count));
  return top;
}

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
    Moment m;
    Moment v;
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
