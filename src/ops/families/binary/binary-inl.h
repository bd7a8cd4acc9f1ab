// Fast kernels of the binary family: a folder's simd.cpp writes the formula on vectors. Included
// once per vector target.
//
//   BINARY_SIMD(op, value)   value: an expression in a, b and the tag f
//   BINARY_SIMD_EXPORT(op)   after HWY_AFTER_NAMESPACE: it on the best target
//   BINARY_SIMD_EXPORT_IN(folder, op)   the same where the op is not called like its folder

#if defined(THIMBLE_OPS_COMMON_BINARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_COMMON_BINARY_INL_H_
#undef THIMBLE_OPS_COMMON_BINARY_INL_H_
#else
#define THIMBLE_OPS_COMMON_BINARY_INL_H_
#endif

#include <algorithm>

#include "ops/families/binary/binary_dims.h"
#include "ops/families/kernel/elements-inl.h"
#include "simd/workspace.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// One operand along the innermost axis.
class PairOperand {
 public:
  // end: the end of the tensor. step: 0 repeats one element, 1 reads consecutive ones.
  HWY_INLINE PairOperand(const float* from, const float* end, int step)
      : from_(from), end_(end), step_(step), same_(hn::Set(F32(), *from)) {}
  // The vector of elements from i on.
  [[nodiscard]] HWY_INLINE Vec whole(int64_t i) const {
    return step_ == 0 ? same_ : hn::LoadU(F32(), from_ + i);
  }
  // The last `count` elements; the other lanes are arbitrary.
  [[nodiscard]] HWY_INLINE Vec last(int64_t i, int count) const {
    if (step_ == 0 || end_ - (from_ + i) >= lanes()) return whole(i);
    return simd::HWY_NAMESPACE::load_first(from_ + i, count);
  }

 private:
  const float* from_;
  const float* end_;
  int step_;
  Vec same_;
};

// Computes n elements along the innermost axis. Values from y to y_end may be rewritten unchanged,
// because masked stores to memory outside the caches are several times slower than whole ones.
template <class Formula>
HWY_INLINE void pair_row(float* y, const float* y_end, const PairOperand a, const PairOperand b,
                         int64_t n, const Formula formula) {
  const F32 f;
  int64_t i = 0;
  for (; i + lanes() <= n; i += lanes()) hn::StoreU(formula(a.whole(i), b.whole(i)), f, y + i);
  if (i == n) return;
  const int count = static_cast<int>(n - i);
  const Vec v = formula(a.last(i, count), b.last(i, count));
  if (y_end - (y + i) >= lanes()) {
    const auto mine = hn::FirstN(f, static_cast<size_t>(count));
    hn::StoreU(hn::IfThenElse(mine, v, hn::LoadU(f, y + i)), f, y + i);
  } else {
    simd::HWY_NAMESPACE::store_first(v, y + i, count);
  }
}

// Number of elements from the first to the last that an operand reads.
HWY_INLINE int64_t extent(const int* stride, const binary_dims& d) {
  int64_t last = 0;
  for (int axis = 0; axis < d.count; ++axis) {
    last += static_cast<int64_t>(d.size[axis] - 1) * stride[axis];
  }
  return last + 1;
}

// Iterates over rows of the innermost axis in order, without a division for each row.
class PairRows {
 public:
  PairRows(const binary_dims& d, int64_t row) : d_(d) {
    for (int axis = 1; axis < d.count; ++axis) {
      at_[axis] = static_cast<int>(row % d.size[axis]);
      row /= d.size[axis];
      a_ += static_cast<ptrdiff_t>(at_[axis]) * d.stride_a[axis];
      b_ += static_cast<ptrdiff_t>(at_[axis]) * d.stride_b[axis];
    }
  }
  // Where the row starts in each operand.
  [[nodiscard]] ptrdiff_t a() const { return a_; }
  [[nodiscard]] ptrdiff_t b() const { return b_; }
  void next() {
    for (int axis = 1; axis < d_.count; ++axis) {
      a_ += d_.stride_a[axis];
      b_ += d_.stride_b[axis];
      if (++at_[axis] < d_.size[axis]) return;
      at_[axis] = 0;
      a_ -= static_cast<ptrdiff_t>(d_.size[axis]) * d_.stride_a[axis];
      b_ -= static_cast<ptrdiff_t>(d_.size[axis]) * d_.stride_b[axis];
    }
  }

 private:
  const binary_dims& d_;
  int at_[BINARY_MAX_AXES] = {};
  ptrdiff_t a_ = 0;
  ptrdiff_t b_ = 0;
};

// Longest row that is repeated through a periodic copy.
inline constexpr int kMaxPeriod = 64;

// Whether one operand is read whole and the other is one short row, the same for all rows, as a
// bias is.
HWY_INLINE bool repeats_short_row(const int* whole, const int* row, const binary_dims& d) {
  return d.count == 2 && d.size[0] <= kMaxPeriod && d.size[0] % lanes() != 0 && whole[0] == 1 &&
         whole[1] == d.size[0] && row[0] == 1 && row[1] == 0;
}

// formula(whole[i], row[i % period]) for i in [begin, end). Reads the row from a periodic copy, so
// that a vector may start at any place in it.
template <class Formula>
HWY_INLINE void over_repeated_row(float* y, const float* whole, const float* row, int period,
                                  int64_t begin, int64_t end, const Formula formula) {
  const F32 f;
  HWY_ALIGN float copy[kMaxPeriod + HWY_LANES(float)];
  for (int i = 0; i < period + lanes(); ++i) copy[i] = i < period ? row[i] : copy[i - period];
  const int step = lanes() % period;
  int at = static_cast<int>(begin % period);
  int64_t i = begin;
  for (; i + lanes() <= end; i += lanes()) {
    hn::StoreU(formula(hn::LoadU(f, whole + i), hn::LoadU(f, copy + at)), f, y + i);
    at += step;
    if (at >= period) at -= period;
  }
  if (i < end) {
    const LastVector io(static_cast<int>(end - i));
    io.store(formula(io.load(whole, i), hn::LoadU(f, copy + at)), y, i);
  }
}

// Whether one operand is read whole and the other has one element for each short row.
HWY_INLINE bool repeats_elements(const int* whole, const int* column, const binary_dims& d) {
  return d.count == 2 && d.size[0] <= lanes() && whole[0] == 1 && whole[1] == d.size[0] &&
         column[0] == 0 && column[1] == 1;
}

// formula(whole[i], column[i / period]) for i in [begin, end), 1 < period <= lanes(). The column's
// elements for a vector are permuted from one load. column_end: the end of the tensor.
template <class Formula>
HWY_INLINE void over_repeated_elements(float* y, const float* whole, const float* column,
                                       const float* column_end, int period, int64_t begin,
                                       int64_t end, const Formula formula) {
  const F32 f;
  const hn::RebindToSigned<F32> integers;
  // The permutation for each position in a row at which a vector may start.
  HWY_ALIGN int32_t picks[HWY_LANES(float)][HWY_LANES(float)];
  for (int start = 0; start < period; ++start) {
    for (int lane = 0, at = start, pick = 0; lane < lanes(); ++lane) {
      picks[start][lane] = pick;
      if (++at == period) at = 0, ++pick;
    }
  }
  int64_t row = begin / period;
  int start = static_cast<int>(begin % period);
  const auto spread = [&](int64_t at_row, int at_start) HWY_ATTR {
    const float* from = column + at_row;
    const int64_t left = column_end - from;
    const Vec neighbours = left >= lanes()
                               ? hn::LoadU(f, from)
                               : simd::HWY_NAMESPACE::load_first(from, static_cast<int>(left));
    return hn::TableLookupLanes(neighbours,
                                hn::IndicesFromVec(f, hn::Load(integers, picks[at_start])));
  };
  const int rows_step = lanes() / period;
  const int start_step = lanes() % period;
  int64_t i = begin;
  for (; i + lanes() <= end; i += lanes()) {
    hn::StoreU(formula(hn::LoadU(f, whole + i), spread(row, start)), f, y + i);
    row += rows_step;
    start += start_step;
    if (start >= period) start -= period, ++row;
  }
  if (i < end) {
    const LastVector io(static_cast<int>(end - i));
    io.store(formula(io.load(whole, i), spread(row, start)), y, i);
  }
}

// y = formula(a, b), in tasks that do not depend on the number of threads.
template <class Formula>
HWY_INLINE void over_pairs(float* y, const float* a, const float* b, const binary_dims& d,
                           parallel::ThreadPool& pool, const Formula& formula) {
  const int64_t inner = d.size[0];
  if (d.n == 0) return;
  const float* const a_end = a + extent(d.stride_a, d);
  const float* const b_end = b + extent(d.stride_b, d);
  // The same formula with swapped operands.
  const auto swapped = [=](Vec whole, Vec other) HWY_ATTR { return formula(other, whole); };
  const auto over_tiles = [&](const auto& tile_of) HWY_ATTR {
    pool.run(simd::divide_up(d.n, kTileElements), [&](int64_t tile) HWY_ATTR {
      const int64_t begin = tile * kTileElements;
      tile_of(begin, std::min<int64_t>(d.n, begin + kTileElements));
    });
  };
  if (repeats_short_row(d.stride_a, d.stride_b, d)) {
    return over_tiles([&](int64_t begin, int64_t end)
                          HWY_ATTR { over_repeated_row(y, a, b, d.size[0], begin, end, formula); });
  }
  if (repeats_short_row(d.stride_b, d.stride_a, d)) {
    return over_tiles([&](int64_t begin, int64_t end)
                          HWY_ATTR { over_repeated_row(y, b, a, d.size[0], begin, end, swapped); });
  }
  if (repeats_elements(d.stride_a, d.stride_b, d)) {
    return over_tiles([&](int64_t begin, int64_t end) HWY_ATTR {
      over_repeated_elements(y, a, b, b_end, d.size[0], begin, end, formula);
    });
  }
  if (repeats_elements(d.stride_b, d.stride_a, d)) {
    return over_tiles([&](int64_t begin, int64_t end) HWY_ATTR {
      over_repeated_elements(y, b, a, a_end, d.size[0], begin, end, swapped);
    });
  }
  // A long row is split into several tasks; short rows share one.
  const int64_t rows = d.n / inner;
  const int64_t rows_each = std::max<int64_t>(1, kTileElements / inner);
  const int64_t pieces = simd::divide_up(inner, kTileElements);
  pool.run(simd::divide_up(rows, rows_each) * pieces, [&](int64_t task) HWY_ATTR {
    const int64_t first = task / pieces * rows_each;
    const int64_t last = std::min(rows, first + rows_each);
    const int64_t begin = task % pieces * kTileElements;
    const int64_t count = std::min<int64_t>(inner - begin, kTileElements);
    // Values after the row belong to another task, so stores stay within this one's.
    const float* const y_end = y + (last - 1) * inner + begin + count;
    PairRows at(d, first);
    for (int64_t row = first; row < last; ++row, at.next()) {
      pair_row(y + row * inner + begin, y_end,
               PairOperand(a + at.a() + begin * d.stride_a[0], a_end, d.stride_a[0]),
               PairOperand(b + at.b() + begin * d.stride_b[0], b_end, d.stride_b[0]), count,
               formula);
    }
  });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef BINARY_SIMD
#define BINARY_SIMD(op, value)                                                       \
  void op##_target(float* y, const float* a_, const float* b_, const binary_dims* d, \
                   parallel::ThreadPool& pool) {                                     \
    over_pairs(y, a_, b_, *d, pool, [](Vec a, Vec b) HWY_ATTR -> Vec {               \
      [[maybe_unused]] const F32 f;                                                  \
      return (value);                                                                \
    });                                                                              \
  }

#undef BINARY_SIMD_EXPORT
#undef BINARY_SIMD_EXPORT_IN
#define BINARY_SIMD_EXPORT(op) BINARY_SIMD_EXPORT_IN(op, op)
#if HWY_ONCE
#define BINARY_SIMD_EXPORT_IN(folder, op)                                          \
  namespace thimble::ops::folder##_impl {                                          \
    HWY_EXPORT(op##_target);                                                       \
    void op##_simd(float* y, const float* a, const float* b, const binary_dims* d, \
                   parallel::ThreadPool& pool) {                                   \
      HWY_DYNAMIC_DISPATCH(op##_target)(y, a, b, d, pool);                         \
    }                                                                              \
  }
#else
#define BINARY_SIMD_EXPORT_IN(folder, op)
#endif

#endif
