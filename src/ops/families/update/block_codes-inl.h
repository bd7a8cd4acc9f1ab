// Decodes and encodes blocks of codes (block_codes.h) in vectors. Included once per vector target.

#if defined(THIMBLE_OPS_COMMON_BLOCK_CODES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_COMMON_BLOCK_CODES_INL_H_
#undef THIMBLE_OPS_COMMON_BLOCK_CODES_INL_H_
#else
#define THIMBLE_OPS_COMMON_BLOCK_CODES_INL_H_
#endif

#include <cstring>

#include "ops/families/kernel/elements-inl.h"
#include "ops/families/update/block_codes.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

using I32 = hn::Rebind<int32_t, F32>;
using U8 = hn::Rebind<uint8_t, F32>;
using I8 = hn::Rebind<int8_t, F32>;

// Blocks in a task.
constexpr int kTaskBlocks = static_cast<int>(kTileElements) / BLOCK_ELEMENTS;

// A block of one state, decoded.
struct CodedBlock {
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
void open_block(CodedBlock& block, const uint8_t* codes, int count, float scale_of,
                const block_book& book) {
  const F32 f;
  if (count < BLOCK_ELEMENTS) std::memset(block.codes, 0, BLOCK_ELEMENTS);
  std::memcpy(block.codes, codes, static_cast<size_t>(count));
  const Vec scale = hn::Set(f, scale_of);
  for (int i = 0; i < BLOCK_ELEMENTS; i += lanes()) {
    hn::Store(hn::Mul(scale, meaning<kHasSign>(block.codes + i, book)), f, block.values + i);
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
float close_block(CodedBlock& block, uint8_t* codes, int count, const block_book& book) {
  const F32 f;
  Vec tops = hn::Zero(f);
  for (int i = 0; i < BLOCK_ELEMENTS; i += lanes()) {
    tops = hn::Max(tops, hn::Abs(hn::Load(f, block.values + i)));
  }
  const float top = hn::GetLane(hn::MaxOfLanes(f, tops));
  const Vec inverse = hn::Set(f, top > 0.0F ? 1.0F / top : 0.0F);
  for (int i = 0; i < BLOCK_ELEMENTS; i += lanes()) {
    encode<kHasSign>(hn::Mul(hn::Load(f, block.values + i), inverse), block.codes + i, book);
  }
  std::memcpy(codes, block.codes, static_cast<size_t>(count));
  return top;
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
