// Convolution with output channels in the vector lanes, for 16 and more of them. The register
// tile's rows are output pixels, whose input pixels are read in place through pointers (no im2col);
// its columns are a packed panel of weights. Included once per vector target.

#if defined(THIMBLE_SIMD_CONV_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_CONV_ROWS_INL_H_
#undef THIMBLE_SIMD_CONV_ROWS_INL_H_
#else
#define THIMBLE_SIMD_CONV_ROWS_INL_H_
#endif

#include <algorithm>

#include "parallel/thread_pool.h"
#include "simd/conv_rows.h"
#include "simd/pack-inl.h"
#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// A block of the contraction whose weights fit one packed panel: some taps times some channels.
struct ConvDepthBlock {
  int first_tap, taps;
  int first_channel, channels;
};

struct ConvRowsJob {
  const ConvPlan& plan;
  const ConvPhase& phase;
  float* y;
  const float* x;
  ConvWeights w;      // of the group
  const float* bias;  // of the group, or null
  int in_channel;     // the first one of the group
  int out_channel;    // the first one of the panel, counted among all
  int column;         // the same, counted within the group
  int columns, vectors;
};

HWY_INLINE int panel_width(const ConvRowsJob& job) { return job.vectors * lanes(); }

// panel: [taps, channels, width]
inline void pack_weights(const ConvRowsJob& job, const ConvDepthBlock& block, float* panel) {
  const ConvPlan& plan = job.plan;
  const int width = panel_width(job);
  for (int t = 0; t < block.taps; ++t) {
    const ConvWeights from =
        job.w.from(job.phase.taps[block.first_tap + t].weight +
                   block.first_channel * plan.weight_in_step + job.column * plan.weight_out_step);
    float* to = panel + static_cast<ptrdiff_t>(t) * block.channels * width;
    if (from.i8 != nullptr) {
      pack_rows(to, width, from.i8, plan.weight_in_step, block.channels, job.columns);
    } else if (plan.weight_out_step == 1) {
      pack_rows(to, width, from.f32, plan.weight_in_step, block.channels, job.columns);
    } else {
      pack_transposed(to, width, from.f32, plan.weight_out_step, block.channels, job.columns);
    }
  }
}

// The position of output pixel `pixel` of the phase (counted over all images), and the input it
// reads.
struct ConvPixel {
  int image, i, j;
};

HWY_INLINE ConvPixel locate(const ConvPhase& phase, int64_t pixel) {
  const int64_t per_image = static_cast<int64_t>(phase.rows) * phase.columns;
  const int in_image = static_cast<int>(pixel % per_image);
  return {static_cast<int>(pixel / per_image), in_image / phase.columns, in_image % phase.columns};
}

HWY_INLINE void advance(const ConvPhase& phase, ConvPixel& at) {
  if (++at.j < phase.columns) return;
  at.j = 0;
  if (++at.i < phase.rows) return;
  at.i = 0;
  ++at.image;
}

HWY_INLINE float* output_pointer(const ConvRowsJob& job, const ConvPixel& at) {
  const ConvPlan& plan = job.plan;
  const int row = job.phase.row + at.i * plan.out_row_step;
  const int column = job.phase.column + at.j * plan.out_column_step;
  return job.y +
         ((static_cast<ptrdiff_t>(at.image) * plan.out_h + row) * plan.out_w + column) *
             plan.out_c +
         job.out_channel;
}

// offsets[t]: floats from the pixel at (i * row_step, j * column_step) to the pixel that tap t
// reads.
inline void fill_offsets(const ConvRowsJob& job, const ConvDepthBlock& block, ptrdiff_t* offsets) {
  const ConvTap* taps = job.phase.taps + block.first_tap;
  for (int t = 0; t < block.taps; ++t) {
    offsets[t] =
        (static_cast<ptrdiff_t>(taps[t].row) * job.plan.in_w + taps[t].column) * job.plan.in_c;
  }
}

// Whether every tap of the pixel lies inside the image.
HWY_INLINE bool is_inside(const ConvPlan& plan, const ConvPixel& at) {
  const int h = at.i * plan.row_step;
  const int w = at.j * plan.column_step;
  return h + plan.tap_rows.first >= 0 && h + plan.tap_rows.last < plan.in_h &&
         w + plan.tap_columns.first >= 0 && w + plan.tap_columns.last < plan.in_w;
}

// Fills entry `row` of the pointers of every group_taps-th tap with the input pixel that it reads,
// or with zeros outside the image.
HWY_INLINE void input_pointers(const ConvRowsJob& job, const ConvDepthBlock& block,
                               const ConvPixel& at, bool inside, int group_taps,
                               const ConvRowsScratch& scratch, int row) {
  const ConvPlan& plan = job.plan;
  const int h = at.i * plan.row_step;
  const int w = at.j * plan.column_step;
  const ptrdiff_t pixel = (static_cast<ptrdiff_t>(at.image) * plan.in_h + h) * plan.in_w + w;
  const float* base = job.x + pixel * plan.in_c + job.in_channel + block.first_channel;
  const float** pointers = scratch.pointers + row;
  if (inside) {
    for (int t = 0; t < block.taps; t += group_taps, pointers += kMostTileRows) {
      *pointers = base + scratch.offsets[t];
    }
    return;
  }
  const ConvTap* taps = job.phase.taps + block.first_tap;
  for (int t = 0; t < block.taps; ++t, pointers += kMostTileRows) {
    const bool tap_inside =
        static_cast<unsigned>(h + taps[t].row) < static_cast<unsigned>(plan.in_h) &&
        static_cast<unsigned>(w + taps[t].column) < static_cast<unsigned>(plan.in_w);
    *pointers = tap_inside ? base + scratch.offsets[t] : scratch.zeros;
  }
}

// Computes all tiles of pixels [first, first + count) over one block of the contraction.
inline void run_depth_block(const ConvRowsJob& job, const ConvDepthBlock& block, int64_t first,
                            int64_t count, const ConvRowsScratch& scratch, const Epilogue& end) {
  pack_weights(job, block, scratch.panel);
  fill_offsets(job, block, scratch.offsets);
  const int rows = tile_rows(job.vectors);
  float* out[kMostTileRows];
  TileJob tile{};
  tile.a = scratch.pointers;
  tile.a_step = 1;
  tile.b = scratch.panel;
  tile.b_pitch = panel_width(job);
  tile.out = out;
  tile.columns = job.columns;
  tile.end = end;
  // Inside the image, a group of taps is one contiguous segment.
  const bool groups = block.channels == job.plan.in_c && block.taps % job.plan.tap_group == 0;
  const int group_taps = groups ? job.plan.tap_group : 1;
  ConvPixel at = locate(job.phase, first);
  ConvPixel pixels[kMostTileRows];
  for (int64_t done = 0; done < count; done += rows) {
    tile.rows = static_cast<int>(std::min<int64_t>(rows, count - done));
    bool all_inside = true;
    for (int i = 0; i < rows; ++i) {
      pixels[i] = at;
      all_inside = all_inside && is_inside(job.plan, at);
      out[i] = output_pointer(job, at);
      if (i + 1 < tile.rows)
        advance(job.phase, at);  // extra rows of the tile repeat the last pixel
    }
    advance(job.phase, at);
    const int together = all_inside ? group_taps : 1;
    for (int i = 0; i < rows; ++i) {
      const bool inside = all_inside || is_inside(job.plan, pixels[i]);
      input_pointers(job, block, pixels[i], inside, together, scratch, i);
    }
    tile.segments = block.taps / together;
    tile.depth = static_cast<int64_t>(block.channels) * together;
    tile_function(tile.rows, job.vectors)(tile);
  }
}

inline void run_pixels(const ConvRowsJob& job, int64_t first, int64_t count,
                       const ConvRowsScratch& scratch) {
  const ConvPlan& plan = job.plan;
  const ConvBlockSize most = depth_block_size(plan.group_in, job.phase.tap_count, plan.tap_group);
  // A phase without taps still gets its bias.
  const int channel_blocks = static_cast<int>(divide_up(plan.group_in, most.channels));
  const int tap_blocks = std::max(1, static_cast<int>(divide_up(job.phase.tap_count, most.taps)));
  const int total = channel_blocks * tap_blocks;
  for (int s = 0; s < total; ++s) {
    ConvDepthBlock block{};
    block.first_channel = s / tap_blocks * most.channels;
    block.channels = std::min(most.channels, plan.group_in - block.first_channel);
    block.first_tap = s % tap_blocks * most.taps;
    block.taps = std::min(most.taps, job.phase.tap_count - block.first_tap);
    Epilogue end;
    const bool last = s + 1 == total;
    end.bias = last && job.bias ? job.bias + job.column : nullptr;
    end.add_previous = s > 0 || plan.add_previous;
    end.activation = last ? plan.activation : KERNEL_ACTIVATION_NONE;
    run_depth_block(job, block, first, count, scratch, end);
  }
}

// y, x, w, bias: see conv(); w: int8 of an adjoint alone; scratch: conv_rows_scratch_bytes() per
// thread.
inline void conv_rows(const ConvPlan& plan, float* y, const float* x, const ConvWeights& w,
                      const float* bias, char* scratch_base, parallel::ThreadPool& pool) {
  const Panels panels = split_columns(plan.group_out);
  const int64_t pixels =
      static_cast<int64_t>(plan.images) * plan.phase_rows() * plan.phase_columns();
  const int64_t chunk =
      conv_rows_chunk(pixels, int64_t{plan.phase_count} * panels.count * plan.groups);
  const int64_t chunks = divide_up(pixels, chunk);
  const int64_t per_group = chunks * plan.phase_count * panels.count;
  const int64_t scratch_bytes = conv_rows_scratch_bytes(plan);
  pool.run_with_worker(per_group * plan.groups, [&](int64_t task, int worker) {
    Workspace own(scratch_base + worker * scratch_bytes);
    const ConvRowsScratch scratch = carve_conv_rows_scratch(own, plan);
    std::fill_n(scratch.zeros, std::min(plan.group_in, kConvDepth), 0.0f);
    const int group = static_cast<int>(task / per_group);
    const int panel = static_cast<int>(task % panels.count);
    const int64_t part = task % per_group / panels.count;
    const ConvPhase& phase = plan.phases[part / chunks];
    const int64_t first = part % chunks * chunk;
    const int64_t in_phase = static_cast<int64_t>(plan.images) * phase.rows * phase.columns;
    if (first >= in_phase) return;
    const int column = panel * panels.width;
    const ConvRowsJob job{plan,
                          phase,
                          y,
                          x,
                          w.from(group * plan.group_weights),
                          bias ? bias + group * plan.group_out : nullptr,
                          group * plan.group_in,
                          group * plan.group_out + column,
                          column,
                          std::min(panels.width, plan.group_out - column),
                          panels.vectors};
    run_pixels(job, first, std::min(chunk, in_phase - first), scratch);
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
