// Packed GEMM. A task computes a block of at most kBlockRows x kBlockColumns of one result, alone:
// for each slice of the contraction it packs one panel of b at a time (kept in the first-level
// cache) and runs the register tiles of the block's rows over it. Rows of a are read in place
// unless a is transposed; then the block's slice is copied first, because a column of a large
// matrix falls into few cache sets. Repacking b for every block of rows costs about one vector
// copy per kBlockRows / 2 multiply-adds, and in return tasks share nothing.

#include "simd/gemm.h"

#include <algorithm>

#include "simd/workspace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/gemm.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "simd/pack-inl.h"
#include "simd/tile-inl.h"

#ifndef THIMBLE_SIMD_GEMM_ONCE_
#define THIMBLE_SIMD_GEMM_ONCE_
namespace thimble::simd {

inline constexpr int kBlockRows = 192;     // a multiple of every tile's rows
inline constexpr int kBlockColumns = 256;  // a multiple of every target's panel
inline constexpr int kBlockDepth = 256;
inline constexpr int kWidestPanel = 64;

// Scratch of one thread.
struct GemmScratch {
  float* panel;  // [depth, panel width] of b
  float* rows;   // [depth, block rows] of a transposed a
};

inline GemmScratch carve_gemm_scratch(Workspace& workspace, const GemmSizes& sizes) {
  const int64_t depth = std::min(sizes.k, kBlockDepth);
  GemmScratch scratch{};
  scratch.panel = workspace.take<float>(depth * std::min<int64_t>(round_up(sizes.n, 16), 64));
  if (sizes.transpose_a) {
    scratch.rows = workspace.take<float>(depth * std::min(sizes.m, kBlockRows));
  }
  return scratch;
}

}  // namespace thimble::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// One block of one result: rows [row, row + rows) and columns [column, column + columns).
struct GemmBlock {
  float* y;
  const float* a;
  const float* b;
  const float* bias;
  int row, rows, column, columns;
};

// The tiles of all rows of the block over one packed panel.
void run_panel(const GemmSizes& sizes, const GemmBlock& block, const GemmScratch& scratch,
               int first_depth, int depth, int column, int columns, int vectors) {
  const bool first = first_depth == 0;
  const bool last = first_depth + depth == sizes.k;
  const float* row_pointers[kTileRows];
  float* out[kTileRows];
  TileJob job{};
  job.a = row_pointers;
  job.a_step = sizes.transpose_a ? block.rows : 1;
  job.b = scratch.panel;
  job.b_pitch = vectors * lanes();
  job.segments = 1;
  job.depth = depth;
  job.out = out;
  job.columns = columns;
  job.end.bias = last && block.bias ? block.bias + column : nullptr;
  job.end.add_previous = !first || sizes.add_previous;
  job.end.relu = last && sizes.relu;
  for (int row = 0; row < block.rows; row += kTileRows) {
    job.rows = std::min(kTileRows, block.rows - row);
    for (int i = 0; i < kTileRows; ++i) {
      const int at = row + std::min(i, job.rows - 1);  // surplus rows repeat the last one
      row_pointers[i] =
          sizes.transpose_a
              ? scratch.rows + at
              : block.a + static_cast<ptrdiff_t>(block.row + at) * sizes.k + first_depth;
      out[i] = block.y + static_cast<ptrdiff_t>(block.row + at) * sizes.n + column;
    }
    tile_function(job.rows, vectors)(job);
  }
}

void run_block(const GemmSizes& sizes, const GemmBlock& block, const GemmScratch& scratch) {
  const Panels panels = split_columns(block.columns);
  int first_depth = 0;
  do {  // once even if k is zero: the result is then the epilogue of zeros
    const int depth = std::min(kBlockDepth, sizes.k - first_depth);
    if (sizes.transpose_a) {
      pack_rows(scratch.rows, block.rows,
                block.a + static_cast<ptrdiff_t>(first_depth) * sizes.m + block.row, sizes.m, depth,
                block.rows);
    }
    for (int panel = 0; panel < panels.count; ++panel) {
      const int column = block.column + panel * panels.width;
      const int columns = std::min(panels.width, block.column + block.columns - column);
      if (sizes.transpose_b) {
        pack_transposed(scratch.panel, panels.width,
                        block.b + static_cast<ptrdiff_t>(column) * sizes.k + first_depth, sizes.k,
                        depth, columns);
      } else {
        pack_rows(scratch.panel, panels.width,
                  block.b + static_cast<ptrdiff_t>(first_depth) * sizes.n + column, sizes.n, depth,
                  columns);
      }
      run_panel(sizes, block, scratch, first_depth, depth, column, columns, panels.vectors);
    }
    first_depth += depth;
  } while (first_depth < sizes.k);
}

// How the results are cut into blocks: by the sizes alone, never by the number of threads.
struct GemmSplit {
  int rows, columns;  // per block
  int row_blocks, column_blocks;
};

GemmSplit split_gemm(const GemmSizes& sizes) {
  GemmSplit split{};
  split.row_blocks = static_cast<int>(divide_up(sizes.m, kBlockRows));
  split.rows = static_cast<int>(round_up(divide_up(sizes.m, split.row_blocks), kTileRows));
  split.row_blocks = static_cast<int>(divide_up(sizes.m, split.rows));
  // Flat results have few blocks: narrow them until a task is no larger than it must be.
  constexpr int64_t kTaskMultiplyAdds = int64_t{1} << 21;
  const int64_t per_column = static_cast<int64_t>(split.rows) * std::max(1, sizes.k);
  const int64_t wanted = std::max<int64_t>(1, kTaskMultiplyAdds / per_column);
  split.columns = static_cast<int>(
      std::min<int64_t>(kBlockColumns, round_up(std::min<int64_t>(wanted, sizes.n), kMaxColumns)));
  split.column_blocks = static_cast<int>(divide_up(sizes.n, split.columns));
  return split;
}

void gemm_target(float* y, const float* a, const float* b, const float* bias, void* workspace,
                 const GemmSizes& sizes, exec::ThreadPool& pool) {
  const GemmSplit split = split_gemm(sizes);
  const int64_t per_matrix = static_cast<int64_t>(split.row_blocks) * split.column_blocks;
  Workspace counter(nullptr);
  carve_gemm_scratch(counter, sizes);
  const int64_t scratch_bytes = counter.bytes();
  pool.run_with_worker(per_matrix * sizes.batch, [&](int64_t task, int worker) {
    Workspace own(static_cast<char*>(workspace) + worker * scratch_bytes);
    const GemmScratch scratch = carve_gemm_scratch(own, sizes);
    const int64_t matrix = task / per_matrix;
    const int row_block = static_cast<int>(task % per_matrix / split.column_blocks);
    const int column_block = static_cast<int>(task % split.column_blocks);
    GemmBlock block{};
    block.y = y + matrix * sizes.m * sizes.n;
    block.a = a + matrix * sizes.a_distance;
    block.b = b + matrix * sizes.b_distance;
    block.bias = bias;
    block.row = row_block * split.rows;
    block.rows = std::min(split.rows, sizes.m - block.row);
    block.column = column_block * split.columns;
    block.columns = std::min(split.columns, sizes.n - block.column);
    run_block(sizes, block, scratch);
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::simd {
HWY_EXPORT(gemm_target);

int64_t gemm_workspace_bytes(const GemmSizes& sizes, int threads) {
  Workspace counter(nullptr);
  carve_gemm_scratch(counter, sizes);
  return counter.bytes() * threads;
}

void gemm(float* y, const float* a, const float* b, const float* bias, void* workspace,
          const GemmSizes& sizes, exec::ThreadPool& pool) {
  if (sizes.batch <= 0 || sizes.m <= 0 || sizes.n <= 0) return;
  HWY_DYNAMIC_DISPATCH(gemm_target)(y, a, b, bias, workspace, sizes, pool);
}

}  // namespace thimble::simd
#endif
