// Vector loops over the wide rows of channel_rows.h. Included once per vector target.

#if defined(THIMBLE_OPS_CHANNEL_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_CHANNEL_ROWS_INL_H_
#undef THIMBLE_OPS_CHANNEL_ROWS_INL_H_
#else
#define THIMBLE_OPS_CHANNEL_ROWS_INL_H_
#endif

#include "ops/common/channel_rows.h"
#include "ops/common/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// How a column of vectors is read: whole, or its first lanes alone, the others being zero.
struct LoadAll {
  HWY_INLINE Vec operator()(const float* from) const { return hn::LoadU(F32(), from); }
};
struct LoadFirst {
  int count;
  HWY_INLINE Vec operator()(const float* from) const { return load_first(from, count); }
};

// The sum over the rows of a block of one column of vectors. term(load, at) is the value to add for
// the place `at`, counted from the block's start.
template <class Load, class Term>
HWY_INLINE Vec sum_column(const Load& load, const Term& term, int column, const ChannelBlock& block,
                          int width) {
  const F32 d;
  Vec sum0 = hn::Zero(d);
  Vec sum1 = hn::Zero(d);
  Vec sum2 = hn::Zero(d);
  Vec sum3 = hn::Zero(d);
  ptrdiff_t at = column;
  int64_t row = 0;
  for (; row + 4 <= block.rows; row += 4, at += 4 * static_cast<ptrdiff_t>(width)) {
    sum0 = hn::Add(sum0, term(load, at));
    sum1 = hn::Add(sum1, term(load, at + width));
    sum2 = hn::Add(sum2, term(load, at + 2 * static_cast<ptrdiff_t>(width)));
    sum3 = hn::Add(sum3, term(load, at + 3 * static_cast<ptrdiff_t>(width)));
  }
  for (; row < block.rows; ++row, at += width) sum0 = hn::Add(sum0, term(load, at));
  if (block.tail > column) {
    const int count = std::min(lanes(), block.tail - column);
    const Vec last = term(LoadFirst{count}, at);
    sum1 = hn::Add(sum1, hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(count)), last));
  }
  return hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
}

// sums[i] = the sum of term over the rows of a block, for every place i of a wide row.
// make_term(load, column) returns the term of a column.
template <class MakeTerm>
HWY_INLINE void sum_rows(float* sums, const MakeTerm& make_term, const ChannelBlock& block,
                         int width) {
  int column = 0;
  for (; column + lanes() <= width; column += lanes()) {
    const LoadAll load;
    hn::StoreU(sum_column(load, make_term(load, column), column, block, width), F32(),
               sums + column);
  }
  if (column < width) {
    const LoadFirst load{width - column};
    store_first(sum_column(load, make_term(load, column), column, block, width), sums + column,
                load.count);
  }
}

// out[at] = term(load, at) for every place of a block; make_term as above.
template <class MakeTerm>
HWY_INLINE void map_rows(float* out, const MakeTerm& make_term, const ChannelBlock& block,
                         int width) {
  int column = 0;
  for (; column + lanes() <= width; column += lanes()) {
    const LoadAll load;
    const auto term = make_term(load, column);
    ptrdiff_t at = column;
    for (int64_t row = 0; row < block.rows; ++row, at += width) {
      hn::StoreU(term(load, at), F32(), out + at);
    }
  }
  if (column < width) {
    const LoadFirst load{width - column};
    const auto term = make_term(load, column);
    ptrdiff_t at = column;
    for (int64_t row = 0; row < block.rows; ++row, at += width) {
      store_first(term(load, at), out + at, load.count);
    }
  }
  const ptrdiff_t after = static_cast<ptrdiff_t>(block.rows) * width;
  for (int begin = 0; begin < block.tail; begin += lanes()) {
    const LoadFirst load{std::min(lanes(), block.tail - begin)};
    store_first(make_term(load, begin)(load, after + begin), out + after + begin, load.count);
  }
}

// y = act((x - mean) * scale + shift), the last three given for a wide row. y may alias x.
struct Affine {
  const float* x;
  const float* mean;
  const float* scale;
  const float* shift;
  bool relu;
  template <class Load>
  HWY_INLINE auto operator()(const Load& outer, int column) const {
    const Vec m = outer(mean + column);
    const Vec s = outer(scale + column);
    const Vec b = outer(shift + column);
    return [this, m, s, b](const auto& load, ptrdiff_t at) HWY_ATTR {
      const Vec value = hn::MulAdd(hn::Sub(load(x + at), m), s, b);
      return relu ? hn::IfThenZeroElse(hn::Lt(value, hn::Zero(F32())), value) : value;
    };
  }
};

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // THIMBLE_OPS_CHANNEL_ROWS_INL_H_
