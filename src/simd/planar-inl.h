// Splits NHWC images into planes, and joins planes of results into NHWC images; see planar.h.
// Included once per vector target.

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

// The part of the images that one task covers: images [image, image + images), rows [row, row +
// rows) and columns [column, column + columns) of every phase.
struct PlanarTask {
  int group;
  int image, images;
  int row, rows;
  int column, columns;
};

inline PlanarTask planar_task(const ConvPlan& plan, const PlanarShape& shape, int64_t task) {
  PlanarTask t{};
  t.column = static_cast<int>(task % shape.strips) * shape.columns;
  t.columns = std::min(shape.columns, plan.phase_columns() - t.column);
  task /= shape.strips;
  t.row = static_cast<int>(task % shape.bands) * shape.rows;
  t.rows = std::min(shape.rows, plan.phase_rows() - t.row);
  task /= shape.bands;
  t.image = static_cast<int>(task % shape.image_runs) * shape.images;
  t.images = std::min(shape.images, plan.images - t.image);
  t.group = static_cast<int>(task / shape.image_runs);
  return t;
}

// Loads planes: [row phase, column phase, channel, image, plane row, pitch], padded with zeros.
inline void load_planes(const ConvPlan& plan, const PlanarShape& shape, const PlanarCopies& copies,
                        const PlanarTask& task, const float* x, float* planes) {
  std::memset(planes, 0, static_cast<size_t>(shape.planes * shape.plane_floats) * sizeof(float));
  const ptrdiff_t step = static_cast<ptrdiff_t>(plan.column_step) * plan.in_c;
  const ptrdiff_t row_phase_floats =
      static_cast<ptrdiff_t>(shape.column_phases) * plan.group_in * shape.plane_floats;
  for (int b = 0; b < task.images; ++b) {
    for (int a = 0; a < shape.row_phases; ++a) {
      for (int t = 0; t < shape.plane_rows; ++t) {
        const int row = (task.row + t) * plan.row_step + shape.first_row + a;
        if (row < 0 || row >= plan.in_h) continue;
        const float* from =
            x + (static_cast<ptrdiff_t>(task.image + b) * plan.in_h + row) * plan.in_w * plan.in_c +
            task.group * plan.group_in;
        const ptrdiff_t at = (static_cast<ptrdiff_t>(b) * shape.plane_rows + t) * shape.pitch;
        float* to = planes + a * row_phase_floats + at;
        for (int i = 0; i < copies.count; ++i) {
          PlanarCopy part = copies.parts[i];
          if (shape.strips > 1) part = part.within(task.column, shape.pitch, step);
          transpose_copy(to + part.plane, shape.plane_floats, from + part.image, step, part.pixels,
                         part.channels);
        }
      }
    }
  }
}

// to[q * step + k] (+)= planes[k * pitch + q] for q < columns, k < channels.
inline void join_row(float* to, ptrdiff_t step, const float* planes, ptrdiff_t pitch, int channels,
                     int columns, bool add_previous, int activation) {
  if (!add_previous) {
    transpose_copy(to, step, planes, pitch, channels, columns);
    return;
  }
  for (int q = 0; q < columns; ++q) {
    for (int k = 0; k < channels; ++k) {
      const float sum = to[q * step + k] + planes[k * pitch + q];
      to[q * step + k] = KERNEL_ACTIVATED(activation, sum);
    }
  }
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
