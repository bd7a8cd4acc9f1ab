// Sequences of 16 bits for the kernels of recurrent ops: a step of a task's sequences is widened
// into memory of the task and rounded from there, while the state from step to step stays f32.
// Included once per vector target.

#if defined(THIMBLE_OPS_RECURRENT_16BIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_RECURRENT_16BIT_INL_H_
#undef THIMBLE_OPS_RECURRENT_16BIT_INL_H_
#else
#define THIMBLE_OPS_RECURRENT_16BIT_INL_H_
#endif

#include "ir/element.h"
#include "ops/families/recurrent/recurrent-inl.h"
#include "ops/families/recurrent/recurrent_16bit.h"
#include "simd/convert_16bit-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

using simd::HWY_NAMESPACE::BrainFloat;
using simd::HWY_NAMESPACE::HalfFloat;
using simd::HWY_NAMESPACE::kPackedRows;
using simd::HWY_NAMESPACE::kPackedWidth;

// As WideInput, of 16 bits or f32. rows: memory of the task, [kPackedRows, width].
template <class Type>
struct NarrowInput {
  const uint16_t* first;  // null: left out, or f32
  int width;
  float* rows;
  const float* wide = nullptr;  // the sequence if it is f32
  [[nodiscard]] Rows read(const recurrent_dims& d, int n, int done, int count) const {
    if (!first) return step_rows(wide, nullptr, d, n, done, width);
    const MutableRows to{rows, width};
    read_to(to, d, n, done, count);
    return {rows, width};
  }
  void read_to(const MutableRows& to, const recurrent_dims& d, int n, int done, int count) const {
    const ptrdiff_t pitch = static_cast<ptrdiff_t>(d.steps) * width;
    const uint16_t* from =
        first + n * pitch + static_cast<ptrdiff_t>(recurrent_step(&d, done)) * width;
    for (int i = 0; i < count; ++i, from += pitch) {
      simd::HWY_NAMESPACE::widen_values<Type>(to.row(i), from, width);
    }
  }
};

template <class Type>
NarrowInput<Type> narrow_input(const NarrowCall& call, int input, int width, float* rows) {
  if (call.is_narrow(input)) {
    return {static_cast<const uint16_t*>(call.input(input)), width, rows, nullptr};
  }
  return {nullptr, width, rows, static_cast<const float*>(call.input(input))};
}

// As WideOutput. rows: memory of the task, [kPackedRows, width], and as much again at a distance of
// `odd` for odd steps; 0: one step takes the place of the one before.
template <class Type>
struct NarrowOutput {
  uint16_t* first;
  int width;
  float* rows;
  ptrdiff_t odd = 0;
  [[nodiscard]] MutableRows place(const recurrent_dims& /*d*/, int /*n*/, int done) const {
    return {rows + done % 2 * odd, width};
  }
  [[nodiscard]] Rows before(const recurrent_dims& d, int n, int done, const float* initial) const {
    if (done == 0) return step_rows(nullptr, initial, d, n, -1, width);
    const MutableRows last = place(d, n, done - 1);
    return {last.first, last.pitch};
  }
  void finish(const recurrent_dims& d, int n, int done, int count) const {
    const MutableRows from = place(d, n, done);
    const ptrdiff_t pitch = static_cast<ptrdiff_t>(d.steps) * width;
    uint16_t* to = first + n * pitch + static_cast<ptrdiff_t>(recurrent_step(&d, done)) * width;
    for (int i = 0; i < count; ++i, to += pitch) {
      simd::HWY_NAMESPACE::narrow_values<Type>(to, from.row(i), width);
    }
  }
};

// pack_matrix() of weights that may have 16 bits. That is rare, so element by element is fast
// enough.
inline void pack_weights(const PackedMatrix& b, const NarrowCall& call, int input, bool transposed,
                         parallel::ThreadPool& pool) {
  if (!call.is_narrow(input)) {
    pack_matrix(b, static_cast<const float*>(call.input(input)), transposed, pool);
    return;
  }
  const auto* const from = static_cast<const uint16_t*>(call.input(input));
  const bool brain = call.is_brain(input);
  pool.run((b.columns + kPackedWidth - 1) / kPackedWidth, [&](int64_t panel) {
    const ptrdiff_t column = panel * kPackedWidth;
    float* to = b.panels + column * b.depth;
    for (ptrdiff_t l = 0; l < b.depth; ++l) {
      for (ptrdiff_t j = column; j < column + kPackedWidth; ++j, ++to) {
        *to = 0.0F;
        if (j >= b.columns) continue;
        const uint16_t half = from[transposed ? j * b.depth + l : l * b.columns + j];
        *to = brain ? element_bf16_to_float(half) : element_f16_to_float(half);
      }
    }
  });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
