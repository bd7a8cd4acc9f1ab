// Packed GEMM. A task computes one block of at most kBlockRows x kBlockColumns of one result. For
// each slice of the contraction it packs one panel of b at a time (kept in the first-level cache)
// and runs the register tiles of the block's rows over it. Rows of a are read in place unless a is
// transposed; then the block's slice is copied first, because a column of a large matrix maps to
// few cache sets. Repacking b for every block of rows costs about one vector copy per kBlockRows /
// 2 multiply-adds; in return tasks share nothing. One row reads b as it lies (gemm_row-inl.h).

#include "simd/gemm.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "simd/workspace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/gemm.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "simd/convert_16bit-inl.h"
#include "simd/gemm_row-inl.h"
#include "simd/pack-inl.h"
#include "simd/tile-inl.h"

#ifndef THIMBLE_SIMD_GEMM_ONCE_
#define THIMBLE_SIMD_GEMM_ONCE_
namespace thimble::simd {

inline constexpr int kBlockRows = 288;
inline constexpr int kBlockColumns = 256;  // a multiple of every target's panel width
// So many products are added one after another. Two sums of half as many would round 1.4 times
// less, as those of MKL do, but a tile that puts one aside takes 1 to 4 % more time.
inline constexpr int kBlockDepth = 256;
// Runs of a narrow b that are made f32 at a time: few enough to stay in the first-level cache.
inline constexpr int kWideRuns = 16;

// Scratch memory of one thread.
struct GemmScratch {
  float* panel;  // [depth, panel width] of b
  float* rows;   // [depth, block rows] of a transposed a
  float* wide;   // of a narrow b: kWideRuns runs of the source of a panel as f32
};

inline GemmScratch carve_gemm_scratch(Workspace& workspace, const GemmSizes& sizes, bool narrow) {
  const int64_t depth = std::min(sizes.k, kBlockDepth);
  const int64_t panel = depth * std::min<int64_t>(round_up(sizes.n, 16), kWidestPanel);
  GemmScratch scratch{};
  scratch.panel = workspace.take<float>(panel);
  if (narrow) {
    const int64_t run = sizes.transpose_b ? depth : std::min(sizes.n, kWidestPanel);
    scratch.wide = workspace.take<float>(kWideRuns * run);
  }
  if (sizes.transpose_a) {
    scratch.rows = workspace.take<float>(depth * std::min(sizes.m, kBlockRows));
  }
  return scratch;
}

constexpr int element_bits(NarrowMatrix::Type type) {
  if (type == NarrowMatrix::Type::i4) return 4;
  return type == NarrowMatrix::Type::i8 ? 8 : 16;
}

}  // namespace thimble::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// One block of one result: rows [row, row + rows) and columns [column, column + columns).
struct GemmBlock {
  float* y;
  const float* a;
  const float* b;              // null where it is narrow
  const NarrowMatrix* narrow;  // or null
  const float* bias;
  int row, rows, column, columns;
};

// A part of a block's work: one panel of columns times one range of the contraction.
struct GemmSlice {
  int first_depth, depth;
  int column, columns, vectors;
  // The source of the panel: `rows` runs of `floats` elements, at a distance of `pitch`, from
  // element `first` on.
  const float* from;
  int64_t first;
  ptrdiff_t pitch;
  int rows, floats;
};

GemmSlice slice_at(const GemmSizes& sizes, const GemmBlock& block, const Panels& panels,
                   int index) {
  GemmSlice slice{};
  const int panel = index % panels.count;
  slice.first_depth = index / panels.count * kBlockDepth;
  slice.depth = std::min(kBlockDepth, sizes.k - slice.first_depth);
  slice.column = block.column + panel * panels.width;
  slice.columns = std::min(panels.width, block.column + block.columns - slice.column);
  slice.vectors = panels.vectors;
  slice.pitch = sizes.transpose_b ? sizes.k : sizes.n;
  slice.rows = sizes.transpose_b ? slice.columns : slice.depth;
  slice.floats = sizes.transpose_b ? slice.depth : slice.columns;
  slice.first = sizes.transpose_b ? slice.column * slice.pitch + slice.first_depth
                                  : slice.first_depth * slice.pitch + slice.column;
  if (block.b != nullptr) slice.from = block.b + slice.first;
  return slice;
}

// Elements [at, at + lanes()) of a narrow matrix.
template <NarrowMatrix::Type kType>
HWY_INLINE Vec widened(const void* data, int64_t at) {
  using Type = NarrowMatrix::Type;
  const hn::Rebind<int8_t, F32> d8;
  const hn::Rebind<int32_t, F32> d32;
  if constexpr (kType == Type::bf16) {
    return BrainFloat::to_f32(hn::LoadU(U16(), static_cast<const uint16_t*>(data) + at));
  } else if constexpr (kType == Type::f16) {
    return HalfFloat::to_f32(hn::LoadU(U16(), static_cast<const uint16_t*>(data) + at));
  } else if constexpr (kType == Type::i8) {
    const auto* const bytes = static_cast<const int8_t*>(data) + at;
    return hn::ConvertTo(F32(), hn::PromoteTo(d32, hn::LoadU(d8, bytes)));
  } else {
    HWY_ALIGN int8_t all[HWY_MAX_BYTES];
    for (int i = 0; i < lanes(); ++i) {
      const auto byte = static_cast<const uint8_t*>(data)[(at + i) / 2];
      all[i] = static_cast<int8_t>(
          static_cast<int8_t>((at + i) % 2 == 0 ? byte << 4 : byte & 0xF0) >> 4);
    }
    return hn::ConvertTo(F32(), hn::PromoteTo(d32, hn::LoadU(d8, all)));
  }
}

// to[i] = the element first + i, for i < count; reads nothing after the last of them.
template <NarrowMatrix::Type kType>
void widen(float* HWY_RESTRICT to, const void* data, int64_t first, int count) {
  int i = 0;
  for (; i + lanes() <= count; i += lanes()) {
    hn::StoreU(widened<kType>(data, first + i), F32(), to + i);
  }
  if (i == count) return;
  // The rest from a copy.
  constexpr int kBits = element_bits(kType);
  HWY_ALIGN uint8_t copy[HWY_MAX_BYTES] = {};
  const int64_t begin = (first + i) * kBits / 8;
  const int64_t end = ((first + count) * kBits + 7) / 8;
  std::memcpy(copy, static_cast<const uint8_t*>(data) + begin, static_cast<size_t>(end - begin));
  const int64_t offset = kBits == 4 ? (first + i) % 2 : 0;
  HWY_ALIGN float values[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(widened<kType>(copy, offset), F32(), values);
  std::copy_n(values, count - i, to + i);
}

void widen(float* HWY_RESTRICT to, const NarrowMatrix& matrix, int64_t first, int count) {
  using Type = NarrowMatrix::Type;
  switch (matrix.type) {
    case Type::bf16:
      return widen<Type::bf16>(to, matrix.data, first, count);
    case Type::f16:
      return widen<Type::f16>(to, matrix.data, first, count);
    case Type::i8:
      return widen<Type::i8>(to, matrix.data, first, count);
    case Type::i4:
      return widen<Type::i4>(to, matrix.data, first, count);
  }
}

// The source of a panel of a narrow matrix as f32, its runs one after another.
void widen_slice(const NarrowMatrix& matrix, const GemmSlice& slice, float* HWY_RESTRICT to) {
  for (int r = 0; r < slice.rows; ++r, to += slice.floats) {
    const int64_t first = slice.first + r * slice.pitch;
    widen(to, matrix, first, slice.floats);
    if (matrix.group == 0) continue;
    const int64_t row = first / slice.pitch;
    const auto column = static_cast<int>(first % slice.pitch);
    const float* const scales = matrix.scales + row * (slice.pitch / matrix.group);
    for (int i = 0; i < slice.floats;) {
      const int group = (column + i) / matrix.group;
      const int end = std::min(slice.floats, (group + 1) * matrix.group - column);
      for (; i < end; ++i) to[i] *= scales[group];
    }
  }
}

// Packs a panel of a narrow matrix, some runs of its source at a time.
void pack_narrow(const GemmSizes& sizes, const NarrowMatrix& matrix, const GemmSlice& slice,
                 int width, const GemmScratch& scratch) {
  for (int begin = 0; begin < slice.rows; begin += kWideRuns) {
    GemmSlice part = slice;
    part.first += begin * slice.pitch;
    part.rows = std::min(kWideRuns, slice.rows - begin);
    widen_slice(matrix, part, scratch.wide);
    if (sizes.transpose_b) {
      transpose_copy(scratch.panel + begin, width, scratch.wide, slice.floats, part.rows,
                     slice.depth);
    } else {
      pack_rows(scratch.panel + ptrdiff_t{begin} * width, width, scratch.wide, slice.floats,
                part.rows, slice.columns);
    }
  }
  if (sizes.transpose_b) pad_columns(scratch.panel, width, slice.depth, slice.columns);
}

void pack_panel(const GemmSizes& sizes, const GemmBlock& block, const GemmSlice& slice, int width,
                const GemmScratch& scratch) {
  float* const panel = scratch.panel;
  if (block.narrow != nullptr) {
    pack_narrow(sizes, *block.narrow, slice, width, scratch);
  } else if (sizes.transpose_b) {
    pack_transposed(panel, width, slice.from, slice.pitch, slice.depth, slice.columns);
  } else {
    pack_rows(panel, width, slice.from, slice.pitch, slice.depth, slice.columns);
  }
}

// Prefetches part `part` of `parts` of the slice's source. Its rows may lie in different pages, at
// which the processor's own prefetching stops.
void prefetch_part(const GemmBlock& block, const GemmSlice& slice, int part, int parts) {
  constexpr int kLineBytes = 64;
  const int bits = block.narrow != nullptr ? element_bits(block.narrow->type) : 32;
  const auto* const all = static_cast<const uint8_t*>(
      block.narrow != nullptr ? block.narrow->data : static_cast<const void*>(block.b));
  const int64_t run_bytes = int64_t{slice.floats} * bits / 8;
  const int64_t last = int64_t{slice.rows} * (part + 1) / parts;
  for (int64_t row = int64_t{slice.rows} * part / parts; row < last; ++row) {
    const uint8_t* const from = all + (slice.first + row * slice.pitch) * bits / 8;
    for (int64_t i = 0; i < run_bytes; i += kLineBytes) hwy::Prefetch(from + i);
  }
}

// Computes the tiles of all rows of the block over one packed panel. next: the slice that follows.
void run_slice(const GemmSizes& sizes, const GemmBlock& block, const GemmScratch& scratch,
               const GemmSlice& slice, const GemmSlice* next) {
  const bool first = slice.first_depth == 0;
  const bool last = slice.first_depth + slice.depth == sizes.k;
  const int rows = tile_rows(slice.vectors);
  const float* row_pointers[kMostTileRows];
  float* out[kMostTileRows];
  TileJob job{};
  job.a = row_pointers;
  job.a_step = sizes.transpose_a ? block.rows : 1;
  job.b = scratch.panel;
  job.b_pitch = slice.vectors * lanes();
  job.segments = 1;
  job.depth = slice.depth;
  job.out = out;
  job.columns = slice.columns;
  job.end.bias = last && block.bias ? block.bias + slice.column : nullptr;
  job.end.add_previous = !first || sizes.add_previous;
  job.end.activation = last ? sizes.activation : KERNEL_ACTIVATION_NONE;
  const int tiles = (block.rows + rows - 1) / rows;
  for (int tile = 0; tile < tiles; ++tile) {
    const int row = tile * rows;
    job.rows = std::min(rows, block.rows - row);
    for (int i = 0; i < rows; ++i) {
      const int at = row + std::min(i, job.rows - 1);  // extra rows of the tile repeat the last one
      row_pointers[i] =
          sizes.transpose_a
              ? scratch.rows + at
              : block.a + static_cast<ptrdiff_t>(block.row + at) * sizes.k + slice.first_depth;
      out[i] = block.y + static_cast<ptrdiff_t>(block.row + at) * sizes.n + slice.column;
    }
    if (next) prefetch_part(block, *next, tile, tiles);
    tile_function(job.rows, slice.vectors)(job);
  }
}

void run_block(const GemmSizes& sizes, const GemmBlock& block, const GemmScratch& scratch) {
  const Panels panels = split_columns(block.columns);
  // At least one run even if k is zero: the result is then the epilogue of zeros.
  const int runs = std::max(1, static_cast<int>(divide_up(sizes.k, kBlockDepth)));
  const int slices = runs * panels.count;
  constexpr int64_t kLargeFloats = int64_t{1} << 17;  // b exceeds the second-level cache
  const bool large = static_cast<int64_t>(sizes.n) * sizes.k >= kLargeFloats;
  GemmSlice slice = slice_at(sizes, block, panels, 0);
  for (int s = 0; s < slices; ++s) {
    if (sizes.transpose_a && s % panels.count == 0) {
      const ptrdiff_t pitch = sizes.a_rows > 0 ? sizes.a_rows : sizes.m;
      pack_rows(scratch.rows, block.rows, block.a + slice.first_depth * pitch + block.row, pitch,
                slice.depth, block.rows);
    }
    pack_panel(sizes, block, slice, panels.width, scratch);
    const GemmSlice next = s + 1 < slices ? slice_at(sizes, block, panels, s + 1) : slice;
    run_slice(sizes, block, scratch, slice, large && s + 1 < slices ? &next : nullptr);
    slice = next;
  }
}

// Whether a product of one row reads b as it lies.
bool reads_unpacked(const GemmSizes& sizes, const NarrowMatrix* narrow) {
  if (sizes.m != 1 || sizes.transpose_a) return false;
  if (narrow != nullptr && narrow->group != 0) return false;
  if (!sizes.transpose_b) return narrow == nullptr || narrow->type != NarrowMatrix::Type::i4;
#if HWY_TARGET == HWY_AVX3
  // Words of two bf16 must not cross the ends of rows.
  return narrow == nullptr || (narrow->type == NarrowMatrix::Type::bf16 && sizes.k % 2 == 0);
#else
  return false;
#endif
}

// sums += those over [first, first + depth) of kVectors vectors of columns from `column` on.
template <int kVectors>
void add_unpacked(Vec (&sums)[kVectors], const GemmSizes& sizes, const GemmBlock& block, int column,
                  int first, int depth) {
  using Type = NarrowMatrix::Type;
  const float* const a = block.a + first;
  const auto type = block.narrow != nullptr ? block.narrow->type : Type::bf16;
#if HWY_TARGET == HWY_AVX3
  if (sizes.transpose_b) {
    for (int v = 0; v < kVectors; ++v) {
      const int64_t at = (int64_t{column} + v * lanes()) * sizes.k + first;
      if (block.narrow == nullptr) {
        sums[v] = add_transposed(sums[v], a, depth, block.b + at, sizes.k);
      } else {
        const auto* const b = static_cast<const uint16_t*>(block.narrow->data) + at;
        sums[v] = add_transposed(sums[v], a, depth, b, sizes.k);
      }
    }
    return;
  }
#endif
  const int64_t start = int64_t{first} * sizes.n + column;
  if (block.narrow == nullptr) {
    const float* const b = block.b + start;
    const auto load = [b](int64_t i) HWY_ATTR { return hn::LoadU(F32(), b + i); };
    const auto fetch = [b](int64_t i) { hwy::Prefetch(b + i); };
    return add_row_major<kVectors>(sums, a, depth, sizes.n, load, fetch);
  }
  const void* const data = block.narrow->data;
  const auto run = [&](auto constant) HWY_ATTR {
    constexpr Type kType = decltype(constant)::value;
    const auto load = [=](int64_t i) HWY_ATTR { return widened<kType>(data, start + i); };
    const auto fetch = [=](int64_t i) {
      hwy::Prefetch(static_cast<const uint8_t*>(data) + (start + i) * element_bits(kType) / 8);
    };
    add_row_major<kVectors>(sums, a, depth, sizes.n, load, fetch);
  };
  if (type == Type::bf16) run(std::integral_constant<Type, Type::bf16>());
  if (type == Type::f16) run(std::integral_constant<Type, Type::f16>());
  if (type == Type::i8) run(std::integral_constant<Type, Type::i8>());
}

// Vectors of columns of the only row, with the sums and the order of run_block.
template <int kVectors>
HWY_NOINLINE void run_unpacked(const GemmSizes& sizes, const GemmBlock& block, int column) {
  const F32 d;
  Vec totals[kVectors];
  for (int v = 0; v < kVectors; ++v) totals[v] = hn::Zero(d);
  for (int first = 0; first == 0 || first < sizes.k; first += kBlockDepth) {
    const int depth = std::min(kBlockDepth, sizes.k - first);
    const bool last = first + depth == sizes.k;
    Vec sums[kVectors];
    for (int v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
    add_unpacked<kVectors>(sums, sizes, block, column, first, depth);
    for (int v = 0; v < kVectors; ++v) {
      const int at = column + v * lanes();
      if (last && block.bias != nullptr) sums[v] = hn::Add(sums[v], hn::LoadU(d, block.bias + at));
      if (first > 0) sums[v] = hn::Add(sums[v], totals[v]);
      if (first == 0 && sizes.add_previous) {
        sums[v] = hn::Add(sums[v], hn::LoadU(d, block.y + at));
      }
      totals[v] = sums[v];
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    hn::StoreU(activate(totals[v], sizes.activation), d, block.y + column + v * lanes());
  }
}

void run_row(const GemmSizes& sizes, GemmBlock block, const GemmScratch& scratch) {
  const int end = block.column + block.columns;
  for (; block.column + kRowVectors * lanes() <= end; block.column += kRowVectors * lanes()) {
    run_unpacked<kRowVectors>(sizes, block, block.column);
  }
  for (; block.column + lanes() <= end; block.column += lanes()) {
    run_unpacked<1>(sizes, block, block.column);
  }
  block.columns = end - block.column;
  if (block.columns > 0) run_block(sizes, block, scratch);
}

// How the results are split into blocks. No element's sum depends on it.
struct GemmSplit {
  int rows, columns;  // per block
  int row_blocks, column_blocks;
};

GemmSplit split_gemm(const GemmSizes& sizes, int threads) {
  GemmSplit split{};
  split.row_blocks = static_cast<int>(divide_up(sizes.m, kBlockRows));
  split.rows = static_cast<int>(round_up(divide_up(sizes.m, split.row_blocks), kAllTileRows));
  split.row_blocks = static_cast<int>(divide_up(sizes.m, split.rows));
  // Wide blocks read a less often, but there must be enough blocks to share among threads, each
  // large enough to be worth a task.
  const int64_t kWantedBlocks = threads > 1 || sizes.a_rows == 0 ? 16 : 1;
  constexpr int64_t kLeastMultiplyAdds = int64_t{1} << 17;
  const int64_t per_column = static_cast<int64_t>(split.rows) * std::max(1, sizes.k);
  const int64_t unit = sizes.m == 1 ? kRowVectors * lanes() : kMaxColumns;
  const int64_t least = round_up(divide_up(kLeastMultiplyAdds, per_column), unit);
  const int64_t others = static_cast<int64_t>(split.row_blocks) * sizes.batch;
  const int64_t even =
      round_up(std::max<int64_t>(1, sizes.n / divide_up(kWantedBlocks, others)), unit);
  split.columns = static_cast<int>(
      std::min({int64_t{kBlockColumns}, std::max(least, even), round_up(sizes.n, unit)}));
  split.column_blocks = static_cast<int>(divide_up(sizes.n, split.columns));
  return split;
}

// b: null where it is narrow.
void gemm_target(float* y, const float* a, const float* b, const NarrowMatrix* narrow,
                 const float* bias, void* workspace, const GemmSizes& sizes,
                 parallel::ThreadPool& pool) {
  const GemmSplit split = split_gemm(sizes, pool.threads());
  const int64_t per_matrix = static_cast<int64_t>(split.row_blocks) * split.column_blocks;
  Workspace counter(nullptr);
  carve_gemm_scratch(counter, sizes, narrow != nullptr);
  const int64_t scratch_bytes = counter.bytes();
  const bool unpacked = reads_unpacked(sizes, narrow);
  pool.run_with_worker(per_matrix * sizes.batch, [&](int64_t task, int worker) {
    Workspace own(static_cast<char*>(workspace) + worker * scratch_bytes);
    const GemmScratch scratch = carve_gemm_scratch(own, sizes, narrow != nullptr);
    const int64_t matrix = task / per_matrix;
    const int row_block = static_cast<int>(task % per_matrix / split.column_blocks);
    const int column_block = static_cast<int>(task % split.column_blocks);
    GemmBlock block{};
    block.y = y + matrix * sizes.m * sizes.n;
    block.a = a + matrix * sizes.a_distance;
    if (b != nullptr) block.b = b + matrix * sizes.b_distance;
    block.narrow = narrow;
    block.bias = bias;
    block.row = row_block * split.rows;
    block.rows = std::min(split.rows, sizes.m - block.row);
    block.column = column_block * split.columns;
    block.columns = std::min(split.columns, sizes.n - block.column);
    if (unpacked) {
      run_row(sizes, block, scratch);
    } else {
      run_block(sizes, block, scratch);
    }
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::simd {
HWY_EXPORT(gemm_target);

int64_t gemm_workspace_bytes(const GemmSizes& sizes, int threads) {
  Workspace counter(nullptr);
  carve_gemm_scratch(counter, sizes, false);
  return counter.bytes() * threads;
}

int64_t gemm_narrow_workspace_bytes(const GemmSizes& sizes, int threads) {
  Workspace counter(nullptr);
  carve_gemm_scratch(counter, sizes, true);
  return counter.bytes() * threads;
}

void gemm(float* y, const float* a, const float* b, const float* bias, void* workspace,
          const GemmSizes& sizes, parallel::ThreadPool& pool) {
  if (sizes.batch <= 0 || sizes.m <= 0 || sizes.n <= 0) return;
  HWY_DYNAMIC_DISPATCH(gemm_target)(y, a, b, nullptr, bias, workspace, sizes, pool);
}

void gemm_narrow(float* y, const float* a, const NarrowMatrix& b, const float* bias,
                 void* workspace, const GemmSizes& sizes, parallel::ThreadPool& pool) {
  if (sizes.m <= 0 || sizes.n <= 0) return;
  HWY_DYNAMIC_DISPATCH(gemm_target)(y, a, nullptr, &b, bias, workspace, sizes, pool);
}

}  // namespace thimble::simd
#endif
