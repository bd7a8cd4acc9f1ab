// Convolution of images of few channels, with pixels in the vector lanes; see planar.h. Included
// once per vector target.

#if defined(THIMBLE_SIMD_CONV_PLANAR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_CONV_PLANAR_INL_H_
#undef THIMBLE_SIMD_CONV_PLANAR_INL_H_
#else
#define THIMBLE_SIMD_CONV_PLANAR_INL_H_
#endif

#include <algorithm>

#include "parallel/thread_pool.h"
#include "simd/conv_planar.h"
#include "simd/planar-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// Results of a few output channels over a run of positions.
struct PlanarTile {
  const float* planes;
  const int32_t* offsets;  // [entries]
  const float* weights;    // [entries, channels]
  const float* bias;       // [channels]
  int entries;
  int activation;
  float* out;  // [channels, out_pitch]
  int64_t out_pitch;
};

template <int kChannels, int kVectors>
HWY_INLINE void planar_step(const PlanarTile& tile, int64_t at) {
  const F32 d;
  Vec sums[kChannels][kVectors];
  THIMBLE_UNROLL
  for (int k = 0; k < kChannels; ++k) {
    const Vec bias = hn::Set(d, tile.bias[k]);
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) sums[k][v] = bias;
  }
  const float* planes = tile.planes + at;
  const float* weights = tile.weights;
  for (int e = 0; e < tile.entries; ++e, weights += kChannels) {
    const float* from = planes + tile.offsets[e];
    Vec pixels[kVectors];
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) pixels[v] = hn::LoadU(d, from + v * lanes());
    THIMBLE_UNROLL
    for (int k = 0; k < kChannels; ++k) {
      const Vec weight = hn::Set(d, weights[k]);
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[k][v] = hn::MulAdd(weight, pixels[v], sums[k][v]);
    }
  }
  THIMBLE_UNROLL
  for (int k = 0; k < kChannels; ++k) {
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const Vec sum = activate(sums[k][v], tile.activation);
      hn::StoreU(sum, d, tile.out + k * tile.out_pitch + at + v * lanes());
    }
  }
}

template <int kChannels, int kVectors>
HWY_NOINLINE void planar_tile(const PlanarTile& tile, const PlanarShape& shape) {
  for (int run = 0; run < shape.runs; ++run) {
    int64_t at = run * shape.run_pitch;
    const int64_t end = at + shape.run_length;
    for (; at + kVectors * lanes() <= end; at += kVectors * lanes()) {
      planar_step<kChannels, kVectors>(tile, at);
    }
    constexpr int kHalf = (kVectors + 1) / 2;
    for (; at + kHalf * lanes() <= end; at += kHalf * lanes()) {
      planar_step<kChannels, kHalf>(tile, at);
    }
    for (; at < end; at += lanes()) planar_step<kChannels, 1>(tile, at);
  }
}

// Output channels computed together: at most four or eight, as registers allow, split evenly.
inline int planar_channels(int group_out) {
#if THIMBLE_MANY_REGISTERS
  constexpr int kMost = 8;
#else
  constexpr int kMost = 4;
#endif
  const int runs = static_cast<int>(divide_up(group_out, kMost));
  const int each = static_cast<int>(divide_up(group_out, runs));
  if (each == 5) return 6;
  if (each == 7) return 8;
  return each;
}

inline void planar_tile(const PlanarTile& tile, int channels, const PlanarShape& shape) {
#if THIMBLE_MANY_REGISTERS
  if (channels == 1) return planar_tile<1, 8>(tile, shape);
  if (channels == 2) return planar_tile<2, 8>(tile, shape);
  if (channels == 3) return planar_tile<3, 6>(tile, shape);
  if (channels == 4) return planar_tile<4, 6>(tile, shape);
  if (channels == 6) return planar_tile<6, 4>(tile, shape);
  planar_tile<8, 3>(tile, shape);
#else
  if (channels == 1) return planar_tile<1, 8>(tile, shape);
  if (channels == 2) return planar_tile<2, 4>(tile, shape);
  if (channels == 3) return planar_tile<3, 3>(tile, shape);
  planar_tile<4, 3>(tile, shape);
#endif
}

// Weights of one group for each output channel.
inline int64_t group_entries(const ConvPlan& plan) {
  return static_cast<int64_t>(plan.tap_count) * plan.group_in;
}

// Fills the tables. The weights of a phase are contiguous: for each run of `channels` output
// channels, [tap, input channel, channels].
inline void fill_tables(const ConvPlan& plan, const PlanarShape& shape, int channels,
                        const ConvWeights& w, const float* bias, const PlanarTables& tables) {
  int32_t* offset = tables.offsets;
  for (int p = 0; p < plan.phase_count; ++p) {
    for (int t = 0; t < plan.phases[p].tap_count; ++t) {
      for (int c = 0; c < plan.group_in; ++c) {
        *offset++ = static_cast<int32_t>(shape.offset(plan, plan.phases[p].taps[t], c));
      }
    }
  }
  const int padded = static_cast<int>(round_up(plan.group_out, channels));
  for (int g = 0; g < plan.groups; ++g) {
    // Where an image is smaller than the stride, some taps belong to no phase.
    float* weight = tables.weights + g * group_entries(plan) * padded;
    for (int k = 0; k < padded; ++k) {
      const bool real = bias && k < plan.group_out;
      tables.bias[g * padded + k] = real ? bias[g * plan.group_out + k] : 0.0f;
    }
    for (int p = 0; p < plan.phase_count; ++p) {
      const ConvPhase& phase = plan.phases[p];
      for (int first = 0; first < padded; first += channels) {
        for (int t = 0; t < phase.tap_count; ++t) {
          for (int c = 0; c < plan.group_in; ++c) {
            const ConvWeights from =
                w.from(g * plan.group_weights + phase.taps[t].weight + c * plan.weight_in_step);
            for (int k = first; k < first + channels; ++k) {
              *weight++ = k < plan.group_out ? from.at(k * plan.weight_out_step) : 0.0f;
            }
          }
        }
      }
    }
  }
}

// All output rows of one row phase, joined from the planes of results of its column phases.
inline void join_rows(const ConvPlan& plan, const PlanarShape& shape, const PlanarTask& task,
                      const PlanarTables& tables, const ConvPhase& phase, const float* results,
                      float* y) {
  const ptrdiff_t step = static_cast<ptrdiff_t>(plan.out_column_step) * plan.out_c;
  const int rows = std::min(task.rows, phase.rows - task.row);
  for (int b = 0; b < task.images; ++b) {
    for (int i = 0; i < rows; ++i) {
      const int row = phase.row + (task.row + i) * plan.out_row_step;
      float* to =
          y +
          (static_cast<ptrdiff_t>(task.image + b) * plan.out_h + row) * plan.out_w * plan.out_c +
          task.group * plan.group_out;
      const float* from =
          results + (static_cast<ptrdiff_t>(b) * shape.plane_rows + i) * shape.pitch;
      for (int part = 0; part < tables.stores.count; ++part) {
        PlanarCopy copy = tables.stores.parts[part];
        if (shape.strips > 1) copy = copy.within(task.column, task.columns, step);
        join_row(to + copy.image, step, from + copy.plane, shape.out_floats, copy.channels,
                 copy.pixels, plan.add_previous, plan.activation);
      }
    }
  }
}

inline void run_planar_task(const ConvPlan& plan, const PlanarShape& shape, const PlanarTask& task,
                            int channels, const PlanarTables& tables, const PlanarScratch& scratch,
                            const float* x, float* y) {
  load_planes(plan, shape, tables.loads, task, x, scratch.planes);
  const int padded = static_cast<int>(round_up(plan.group_out, channels));
  const int column_phases = std::min(plan.out_column_step, plan.out_w);
  PlanarTile tile{};
  tile.planes = scratch.planes;
  tile.offsets = tables.offsets;
  tile.weights = tables.weights + task.group * group_entries(plan) * padded;
  tile.activation = plan.add_previous ? KERNEL_ACTIVATION_NONE : plan.activation;
  tile.out_pitch = shape.out_floats;
  for (int p = 0; p < plan.phase_count; ++p) {
    tile.entries = plan.phases[p].tap_count * plan.group_in;
    tile.out = scratch.results + p % column_phases * padded * shape.out_floats;
    for (int k = 0; k < padded; k += channels) {
      tile.bias = tables.bias + task.group * padded + k;
      planar_tile(tile, channels, shape);
      tile.weights += static_cast<ptrdiff_t>(tile.entries) * channels;
      tile.out += channels * shape.out_floats;
    }
    tile.offsets += tile.entries;
    if ((p + 1) % column_phases == 0) {
      join_rows(plan, shape, task, tables, plan.phases[p], scratch.results, y);
    }
  }
}

// y, x, w, bias: see conv(). The workspace starts at base: the tables, then carve_planar_scratch()
// per thread.
inline void conv_planar(const ConvPlan& plan, float* y, const float* x, const ConvWeights& w,
                        const float* bias, Workspace& workspace, char* base,
                        parallel::ThreadPool& pool) {
  const PlanarShape shape = planar_shape(plan, planar_result_planes(plan));
  const int channels = planar_channels(plan.group_out);
  const int padded = static_cast<int>(round_up(plan.group_out, channels));
  const PlanarTables tables = carve_planar_tables(workspace, plan, shape, padded);
  fill_tables(plan, shape, channels, w, bias, tables);
  Workspace counter(nullptr);
  carve_planar_scratch(counter, plan, shape);
  const int64_t tasks = plan.groups * shape.tasks();
  pool.run_with_worker(tasks, [&](int64_t task, int worker) {
    Workspace own(base + workspace.used() + worker * counter.bytes());
    const PlanarScratch scratch = carve_planar_scratch(own, plan, shape);
    run_planar_task(plan, shape, planar_task(plan, shape, task), channels, tables, scratch, x, y);
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
