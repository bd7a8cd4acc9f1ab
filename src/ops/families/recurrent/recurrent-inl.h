// Shared by the kernels of recurrent ops. A task runs several sequences through all their steps, so
// no step waits for another task. Included once per vector target.

#if defined(THIMBLE_OPS_COMMON_RECURRENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_COMMON_RECURRENT_INL_H_
#undef THIMBLE_OPS_COMMON_RECURRENT_INL_H_
#else
#define THIMBLE_OPS_COMMON_RECURRENT_INL_H_
#endif

#include <algorithm>

#include "ops/families/kernel/elements-inl.h"
#include "ops/families/recurrent/recurrent_dims.h"
#include "simd/math-inl.h"
#include "simd/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

namespace math = thimble::simd::HWY_NAMESPACE;
using simd::HWY_NAMESPACE::multiply_packed;
using simd::HWY_NAMESPACE::pack_matrix;
using simd::HWY_NAMESPACE::PackedMatrix;

// Rows of a state or of one step of a sequence: row i starts at first + i * pitch; no rows if first
// is null.
template <class T>
struct StateRows {
  T* first;
  ptrdiff_t pitch;
  [[nodiscard]] T* row(int i) const { return first ? first + i * pitch : nullptr; }
};
using Rows = StateRows<const float>;
using MutableRows = StateRows<float>;

// Rows of step `done` for sequence `n` and those after it, in [batch, steps, width]. `initial`,
// [batch, width] or null, is the state before the first step.
inline MutableRows step_rows(float* sequence, const recurrent_dims& d, int n, int done, int width) {
  const ptrdiff_t pitch = static_cast<ptrdiff_t>(d.steps) * width;
  return {sequence + n * pitch + static_cast<ptrdiff_t>(recurrent_step(&d, done)) * width, pitch};
}
inline Rows step_rows(const float* sequence, const float* initial, const recurrent_dims& d, int n,
                      int done, int width) {
  if (done < 0) return {initial ? initial + static_cast<ptrdiff_t>(n) * width : nullptr, width};
  if (!sequence) return {nullptr, 0};
  const ptrdiff_t pitch = static_cast<ptrdiff_t>(d.steps) * width;
  return {sequence + n * pitch + static_cast<ptrdiff_t>(recurrent_step(&d, done)) * width, pitch};
}

// Sequences [batch, steps, width] of f32, read and written in place, a step of some sequences at a
// time. recurrent_16bit-inl.h has the same for 16 bits.
struct WideInput {
  const float* first;  // null: left out
  int width;
  [[nodiscard]] Rows read(const recurrent_dims& d, int n, int done, int /*count*/) const {
    return step_rows(first, nullptr, d, n, done, width);
  }
  // Copies a step to `to`, unless it stands there.
  void read_to(const MutableRows& to, const recurrent_dims& d, int n, int done, int count) const {
    const Rows from = read(d, n, done, count);
    if (from.first == to.first) return;
    for (int i = 0; i < count; ++i) std::copy_n(from.row(i), width, to.row(i));
  }
};

struct WideOutput {
  float* first;
  int width;
  [[nodiscard]] MutableRows place(const recurrent_dims& d, int n, int done) const {
    return step_rows(first, d, n, done, width);
  }
  // The step before, which is still in f32; `initial`, [batch, width] or null, before the first.
  [[nodiscard]] Rows before(const recurrent_dims& d, int n, int done, const float* initial) const {
    return step_rows(first, initial, d, n, done - 1, width);
  }
  void finish(const recurrent_dims& /*d*/, int /*n*/, int /*done*/, int /*count*/) const {}
};

// One state [batch, units] is a sequence of one step.
inline recurrent_dims one_step(const recurrent_dims& d) {
  recurrent_dims one = d;
  one.steps = 1;
  one.reverse = 0;
  return one;
}

// Calls sequences(n, count, worker) for groups of sequences.
template <class F>
void over_sequences(const recurrent_dims& d, parallel::ThreadPool& pool, const F& sequences) {
  constexpr int rows = simd::HWY_NAMESPACE::kPackedRows;
  pool.run_with_worker((d.batch + rows - 1) / rows, [&](int64_t task, int worker) HWY_ATTR {
    const int n = static_cast<int>(task) * rows;
    sequences(n, std::min(rows, d.batch - n), worker);
  });
}

// Loads from memory that may be absent; then zeros.
template <class Io>
HWY_INLINE Vec load_or_zero(const Io& io, const float* from, int64_t i) {
  return from ? io.load(from, i) : hn::Zero(F32());
}

// y (1 - y) and 1 - y^2: the derivatives of sigmoid and tanh from their results.
HWY_INLINE Vec sigmoid_slope(Vec y) { return hn::NegMulAdd(y, y, y); }
HWY_INLINE Vec tanh_slope(Vec y) { return hn::NegMulAdd(y, y, hn::Set(F32(), 1.0F)); }

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
