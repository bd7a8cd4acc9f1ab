// The register tile that GEMM and the convolutions share: up to eight rows of broadcast values
// times up to kMaxVectors vectors of columns, accumulated in registers. Included once per vector
// target.

#if defined(THIMBLE_SIMD_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_TILE_INL_H_
#undef THIMBLE_SIMD_TILE_INL_H_
#else
#define THIMBLE_SIMD_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "simd/activation.h"
#include "simd/tile.h"

// The accumulators must stay in registers, so their loops must be unrolled completely. Clang does
// this without a pragma.
#undef THIMBLE_UNROLL
#if HWY_COMPILER_GCC_ACTUAL
#define THIMBLE_UNROLL _Pragma("GCC unroll 16")
#else
#define THIMBLE_UNROLL
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using Vec = hn::Vec<F32>;

HWY_INLINE constexpr int lanes() { return static_cast<int>(HWY_LANES(float)); }

#undef THIMBLE_MANY_REGISTERS
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON
#define THIMBLE_MANY_REGISTERS 1
inline constexpr int kMaxVectors = 4;
#else
#define THIMBLE_MANY_REGISTERS 0
inline constexpr int kMaxVectors = 2;
#endif
inline constexpr int kMaxColumns = kMaxVectors * lanes();

// Rows of the largest tile with that many vectors. 8 x 3 and 6 x 4 accumulators fill 32 registers,
// 6 x 2 fill 16, with room for the operands. Eight accumulators are the least that hide the latency
// of a multiply-add; with more rows their pointers would not fit registers.
constexpr int tile_rows(int vectors) {
#if THIMBLE_MANY_REGISTERS
  return vectors <= 3 ? 8 : 6;
#else
  return vectors == 1 ? 8 : 6;
#endif
}

// Loads or stores the first `count` lanes, 1 <= count <= lanes(), touching nothing beyond them.
HWY_INLINE Vec load_first(const float* from, int count) {
  const F32 d;
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(64) float all[HWY_LANES(float)] = {};
  for (int i = 0; i < count; ++i) all[i] = from[i];
  return hn::Load(d, all);
#else
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, from);
#endif
}

HWY_INLINE void store_first(Vec v, float* to, int count) {
  const F32 d;
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(64) float all[HWY_LANES(float)];
  hn::Store(v, d, all);
  for (int i = 0; i < count; ++i) to[i] = all[i];
#else
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(count)), d, to);
#endif
}

// activation: one of kernel_activation; NaN stays NaN.
HWY_INLINE Vec activate(Vec v, int activation) {
  if (activation == KERNEL_ACTIVATION_NONE) return v;
  const F32 d;
  const Vec six = hn::Set(d, 6.0F);
  v = hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v);
  return activation == KERNEL_ACTIVATION_RELU6 ? hn::IfThenElse(hn::Gt(v, six), six, v) : v;
}

// Applied to a finished tile before it is stored.
struct Epilogue {
  const float* bias = nullptr;  // one value per column of the tile, or null
  bool add_previous = false;    // add the previous contents of the output
  int activation = KERNEL_ACTIVATION_NONE;
};

// sums[i][v] += sum_{l < depth} a[i][l * a_step] * b[l * b_pitch + v * lanes()]. If kPartial, only
// the first `last_count` columns of the last vector are read, and the others keep their sums.
template <bool kPartial, int kRows, int kVectors>
HWY_INLINE void multiply_add(Vec (&sums)[kRows][kVectors], const float* const* HWY_RESTRICT a,
                             ptrdiff_t a_step, const float* HWY_RESTRICT b, ptrdiff_t b_pitch,
                             int64_t depth, int last_count) {
  const F32 d;
  const float* rows[kRows];
  THIMBLE_UNROLL
  for (int i = 0; i < kRows; ++i) rows[i] = a[i];
  ptrdiff_t at = 0;
  for (int64_t l = 0; l < depth; ++l, at += a_step, b += b_pitch) {
    Vec columns[kVectors];
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      columns[v] = kPartial && v + 1 == kVectors ? load_first(b + v * lanes(), last_count)
                                                 : hn::LoadU(d, b + v * lanes());
    }
    THIMBLE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const Vec value = hn::Set(d, rows[i][at]);
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(value, columns[v], sums[i][v]);
    }
  }
}

// Applies the epilogue to one vector of `count` valid columns and stores it.
HWY_INLINE void finish_vector(Vec sum, float* out, int count, int column, const Epilogue& end) {
  const F32 d;
  const bool full = count >= lanes();
  if (end.bias) {
    const float* bias = end.bias + column;
    sum = hn::Add(sum, full ? hn::LoadU(d, bias) : load_first(bias, count));
  }
  if (end.add_previous) {
    sum = hn::Add(sum, full ? hn::LoadU(d, out) : load_first(out, count));
  }
  sum = activate(sum, end.activation);
  if (full) {
    hn::StoreU(sum, d, out);
  } else {
    store_first(sum, out, count);
  }
}

// One tile of a product whose contraction consists of segments of equal depth (the taps of a
// window, or a single one). Row i of segment s starts at a[s * kMostTileRows + i]; the packed
// columns of segment s start at b + s * depth * b_pitch.
struct TileJob {
  const float* const* a;
  ptrdiff_t a_step;
  const float* b;
  ptrdiff_t b_pitch;
  int segments;
  int64_t depth;
  float* const* out;  // where each row of the result starts
  int rows;           // rows to store; the tile may compute more
  int columns;        // columns to store
  Epilogue end;
};

template <int kRows, int kVectors>
HWY_NOINLINE void run_tile(const TileJob& job) {
  const F32 d;
  Vec sums[kRows][kVectors];
  THIMBLE_UNROLL
  for (int i = 0; i < kRows; ++i) {
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) sums[i][v] = hn::Zero(d);
  }
  const float* const* a = job.a;
  const float* b = job.b;
  for (int s = 0; s < job.segments; ++s, a += kMostTileRows, b += job.depth * job.b_pitch) {
    multiply_add<false>(sums, a, job.a_step, b, job.b_pitch, job.depth, lanes());
  }
  THIMBLE_UNROLL
  for (int i = 0; i < kRows; ++i) {
    if (i >= job.rows) break;
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const int column = v * lanes();
      if (column < job.columns) {
        finish_vector(sums[i][v], job.out[i] + column, job.columns - column, column, job.end);
      }
    }
  }
}

using TileFunction = void (*)(const TileJob&);

template <int kVectors>
inline TileFunction tile_of_rows(int rows) {
  if (rows == 1) return run_tile<1, kVectors>;
  if (rows == 2) return run_tile<2, kVectors>;
  if (rows <= 4) return run_tile<4, kVectors>;
  return run_tile<tile_rows(kVectors), kVectors>;
}

// The smallest tile with at least that many rows (<= tile_rows()) and exactly that many vectors.
inline TileFunction tile_function(int rows, int vectors) {
  if (vectors == 1) return tile_of_rows<1>(rows);
  if (vectors == 2) return tile_of_rows<2>(rows);
#if THIMBLE_MANY_REGISTERS
  if (vectors == 3) return tile_of_rows<3>(rows);
  return tile_of_rows<4>(rows);
#else
  return tile_of_rows<2>(rows);
#endif
}

// Splits `columns` into panels with equal numbers of vectors: 96 columns are 48 + 48, not 64 + 32.
struct Panels {
  int vectors;  // per panel
  int width;    // columns per panel; the last one may hold fewer
  int count;
};

inline Panels split_columns(int columns) {
  const int vectors = (columns + lanes() - 1) / lanes();
  const int count = (vectors + kMaxVectors - 1) / kMaxVectors;
  if (count == 0) return {1, lanes(), 0};
  const int each = (vectors + count - 1) / count;
  const int width = each * lanes();
  return {each, width, (columns + width - 1) / width};
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
