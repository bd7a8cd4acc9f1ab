// Cuts NHWC images into planes and joins planes of results to NHWC images; see planar.h. Included
// once per vector target.

#if defined(THIMBLE_SIMD_PLANAR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_PLANAR_INL_H_
#undef THIMBLE_SIMD_PLANAR_INL_H_
#else
#define THIMBLE_SIMD_PLANAR_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "simd/pack-inl.h"
#include "simd/planar.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// What one task covers: images [image, image + images) and rows [row, row + rows) of every phase.
struct PlanarTask {
  int group;
  int image, images;
  int row, rows;
};

inline PlanarTask planar_task(const ConvPlan& plan, const PlanarShape& shape, int64_t task) {
  PlanarTask t{};
  t.row = static_cast<int>(task % shape.bands) * shape.rows;
  t.rows = std::min(shape.rows, plan.phase_rows() - t.row);
  task /= shape.bands;
  t.image = static_cast<int>(task % shape.image_runs) * shape.images;
  t.images = std::min(shape.images, plan.images - t.image);
  t.group = static_cast<int>(task / shape.image_runs);
  return t;
}

// One row of one column phase: to[c * plane_floats + u] for the u whose pixel lies in the image.
inline void load_plane_row(const ConvPlan& plan, const PlanarShape& shape, const float* from,
                           int column_phase, float* to) {
  const int offset = shape.first_column + column_phase;
  const int first = offset >= 0 ? 0 : (-offset + plan.column_step - 1) / plan.column_step;
  const int last = offset >= plan.in_w
                       ? 0
                       : std::min(shape.pitch, (plan.in_w - 1 - offset) / plan.column_step + 1);
  if (first >= last) return;
  const ptrdiff_t column = offset + static_cast<ptrdiff_t>(first) * plan.column_step;
  transpose_copy(to + first, shape.plane_floats, from + column * plan.in_c,
                 static_cast<ptrdiff_t>(plan.column_step) * plan.in_c, last - first, plan.group_in);
}

// planes: [row phase, column phase, channel, image, plane row, pitch], padded with zeros.
inline void load_planes(const ConvPlan& plan, const PlanarShape& shape, const PlanarTask& task,
                        const float* x, float* planes) {
  std::memset(planes, 0, static_cast<size_t>(shape.planes * shape.plane_floats) * sizeof(float));
  const ptrdiff_t phase_floats = plan.group_in * shape.plane_floats;
  for (int b = 0; b < task.images; ++b) {
    for (int a = 0; a < shape.row_phases; ++a) {
      for (int t = 0; t < shape.plane_rows; ++t) {
        const int row = (task.row + t) * plan.row_step + shape.first_row + a;
        if (row < 0 || row >= plan.in_h) continue;
        const float* from =
            x + (static_cast<ptrdiff_t>(task.image + b) * plan.in_h + row) * plan.in_w * plan.in_c +
            task.group * plan.group_in;
        const ptrdiff_t at = (static_cast<ptrdiff_t>(b) * shape.plane_rows + t) * shape.pitch;
        for (int phase = 0; phase < shape.column_phases; ++phase) {
          load_plane_row(plan, shape, from, phase,
                         planes + (a * shape.column_phases + phase) * phase_floats + at);
        }
      }
    }
  }
}

// to[q * step + k] (+)= planes[k * pitch + q] for q < columns, k < channels.
inline void join_row(float* to, ptrdiff_t step, const float* planes, ptrdiff_t pitch, int channels,
                     int columns, bool add_previous, bool relu) {
  if (!add_previous) {
    transpose_copy(to, step, planes, pitch, channels, columns);
    return;
  }
  for (int q = 0; q < columns; ++q) {
    for (int k = 0; k < channels; ++k) {
      const float sum = to[q * step + k] + planes[k * pitch + q];
      to[q * step + k] = relu && !(sum > 0) ? 0.0f : sum;
    }
  }
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
