// Vector loops over the wide rows of channel_rows.h. Tensors are given as pointers to f32, or as
// values of 16 bits that are converted when they are loaded and stored (convert_16bit-inl.h).
// Included once per vector target.

#if defined(THIMBLE_OPS_CHANNEL_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_CHANNEL_ROWS_INL_H_
#undef THIMBLE_OPS_CHANNEL_ROWS_INL_H_
#else
#define THIMBLE_OPS_CHANNEL_ROWS_INL_H_
#endif

#include "ops/families/kernel/lanes-inl.h"
#include "ops/families/norm/channel_rows.h"
#include "parallel/thread_pool.h"
#include "simd/convert_16bit-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// Loads a column of vectors: all lanes, or only the first lanes and zeros elsewhere.
struct LoadAll {
  template <class From>
  HWY_INLINE Vec operator()(From from) const {
    return simd::HWY_NAMESPACE::load_whole(from);
  }
};
struct LoadFirst {
  int count;
  template <class From>
  HWY_INLINE Vec operator()(From from) const {
    return simd::HWY_NAMESPACE::load_first(from, count);
  }
};

// The sum over the rows of a block of one column of vectors. term(load, at) is the value to add at
// position `at`, counted from the start of the block.
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

// Rows of at least this width are read front to back, several at a time; narrower ones column by
// column, with the sums in registers.
inline constexpr int kWideRow = 256;
inline constexpr int kRowsAtATime = 4;

// Calls body(load, column) for every column of vectors in a row of `width` values.
template <class Body>
HWY_INLINE void for_each_column(int width, const Body& body) {
  int column = 0;
  for (; column + lanes() <= width; column += lanes()) body(LoadAll(), column);
  if (column < width) body(LoadFirst{width - column}, column);
}

template <class To>
HWY_INLINE void store_with(const LoadAll&, Vec v, To to) {
  simd::HWY_NAMESPACE::store_whole(v, to);
}
template <class To>
HWY_INLINE void store_with(const LoadFirst& load, Vec v, To to) {
  simd::HWY_NAMESPACE::store_first(v, to, load.count);
}

// sums[i] = the sum of term over the rows of a block, for every position i of a wide row.
// make_term(load, column) returns the term of a column.
template <class MakeTerm>
HWY_INLINE void sum_rows(float* sums, const MakeTerm& make_term, const ChannelBlock& block,
                         int width) {
  if (width < kWideRow) {
    for_each_column(width, [&](const auto& load, int column) HWY_ATTR {
      store_with(load, sum_column(load, make_term(load, column), column, block, width),
                 sums + column);
    });
    return;
  }
  std::fill(sums, sums + width, 0.0F);
  const auto add_rows = [&](int64_t first, ChannelBlock some) HWY_ATTR {
    const ptrdiff_t from = static_cast<ptrdiff_t>(first) * width;
    for_each_column(some.rows > 0 ? width : some.tail, [&](const auto& load, int column) HWY_ATTR {
      const auto term = make_term(load, column);
      const auto shifted = [&](const auto& inner, ptrdiff_t at)
                               HWY_ATTR { return term(inner, from + at); };
      const Vec sum = sum_column(load, shifted, column, some, width);
      store_with(load, hn::Add(load(sums + column), sum), sums + column);
    });
  };
  int64_t row = 0;
  for (; row + kRowsAtATime <= block.rows; row += kRowsAtATime) {
    add_rows(row, {.rows = kRowsAtATime});
  }
  for (; row < block.rows; ++row) add_rows(row, {.rows = 1});
  if (block.tail > 0) add_rows(row, {.tail = block.tail});
}

// out[at] = term(load, at) for every position of a block; make_term as above.
template <class To, class MakeTerm>
HWY_INLINE void map_rows(To out, const MakeTerm& make_term, const ChannelBlock& block, int width) {
  const int64_t at_a_time = width < kWideRow ? std::max<int64_t>(1, block.rows) : kRowsAtATime;
  for (int64_t first = 0; first < block.rows; first += at_a_time) {
    const int64_t end = std::min(block.rows, first + at_a_time);
    for_each_column(width, [&](const auto& load, int column) HWY_ATTR {
      const auto term = make_term(load, column);
      ptrdiff_t at = static_cast<ptrdiff_t>(first) * width + column;
      for (int64_t row = first; row < end; ++row, at += width) {
        store_with(load, term(load, at), out + at);
      }
    });
  }
  const ptrdiff_t after = static_cast<ptrdiff_t>(block.rows) * width;
  for_each_column(block.tail, [&](const auto& load, int column) HWY_ATTR {
    store_with(load, make_term(load, column)(load, after + column), out + after + column);
  });
}

// y = act((x - mean) * scale + shift); mean, scale and shift are given for a wide row. y may alias
// x.
template <class From>
struct Affine {
  From x;
  const float* mean;
  const float* scale;
  const float* shift;
  int activation;
  template <class Load>
  HWY_INLINE auto operator()(const Load& outer, int column) const {
    const Vec m = outer(mean + column);
    const Vec s = outer(scale + column);
    const Vec b = outer(shift + column);
    return [this, m, s, b](const auto& load, ptrdiff_t at) HWY_ATTR {
      const Vec value = hn::MulAdd(hn::Sub(load(x + at), m), s, b);
      return activate(value, activation);
    };
  }
};

// Applies it to all rows, block by block. wide: mean, scale and shift.
template <class To, class From>
HWY_INLINE void map_affine(To y, From x, const float* const (&wide)[3], int activation,
                           const ChannelRows& r, parallel::ThreadPool& pool) {
  pool.run(r.blocks, [&](int64_t i) {
    const ChannelBlock block = channel_block(r, i);
    map_rows(y + block.first, Affine<From>{x + block.first, wide[0], wide[1], wide[2], activation},
             block, r.width);
  });
}

// Mean and sum of squared deviations from it over one block, for every channel. wide_sums,
// wide_mean: scratch of one wide row each.
template <class From>
HWY_INLINE void block_statistics(float* mean, float* squares, From x, float* wide_sums,
                                 float* wide_mean, const ChannelRows& r,
                                 const ChannelBlock& block) {
  sum_rows(
      wide_sums,
      [x](const auto&, int) HWY_ATTR {
        return [x](const auto& load, ptrdiff_t at) HWY_ATTR { return load(x + at); };
      },
      block, r.width);
  fold_wide(mean, wide_sums, r);
  for (int c = 0; c < r.channels; ++c) mean[c] /= static_cast<float>(block.per_channel);
  widen(wide_mean, mean, r);
  sum_rows(
      wide_sums,
      [x, wide_mean](const auto& outer, int column) HWY_ATTR {
        const Vec center = outer(wide_mean + column);
        return [x, center](const auto& load, ptrdiff_t at) HWY_ATTR {
          const Vec off = hn::Sub(load(x + at), center);
          return hn::Mul(off, off);
        };
      },
      block, r.width);
  fold_wide(squares, wide_sums, r);
}

// Constants of the gradient by x, along a wide row.
struct WideSlopes {
  const float* mean;
  const float* scale;
  const float* slope;
  const float* offset;
};

// Sums of dy and of dy * (x - mean) over one block, for every channel. wide_mean: the mean along a
// wide row; wide_sums: scratch of one wide row.
template <class From>
HWY_INLINE void block_sums(float* sums, float* products, From dy, From x, const float* wide_mean,
                           float* wide_sums, const ChannelRows& r, const ChannelBlock& block) {
  sum_rows(
      wide_sums,
      [dy](const auto&, int) HWY_ATTR {
        return [dy](const auto& load, ptrdiff_t at) HWY_ATTR { return load(dy + at); };
      },
      block, r.width);
  fold_wide(sums, wide_sums, r);
  sum_rows(
      wide_sums,
      [dy, x, wide_mean](const auto& outer, int column) HWY_ATTR {
        const Vec center = outer(wide_mean + column);
        return [dy, x, center](const auto& load, ptrdiff_t at)
                   HWY_ATTR { return hn::Mul(load(dy + at), hn::Sub(load(x + at), center)); };
      },
      block, r.width);
  fold_wide(products, wide_sums, r);
}

// dx = scale dy + slope (x - mean) + offset.
template <class To, class From>
HWY_INLINE void block_dx(To dx, From dy, From x, const WideSlopes& s, const ChannelBlock& block,
                         int width) {
  map_rows(
      dx,
      [dy, x, s](const auto& outer, int column) HWY_ATTR {
        const Vec mean = outer(s.mean + column);
        const Vec scale = outer(s.scale + column);
        const Vec slope = outer(s.slope + column);
        const Vec offset = outer(s.offset + column);
        return [dy, x, mean, scale, slope, offset](const auto& load, ptrdiff_t at) HWY_ATTR {
          const Vec tilt = hn::MulAdd(hn::Sub(load(x + at), mean), slope, offset);
          return hn::MulAdd(load(dy + at), scale, tilt);
        };
      },
      block, width);
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // THIMBLE_OPS_CHANNEL_ROWS_INL_H_
