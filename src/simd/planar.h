// Sizes of the planar way to convolve images of few channels. Such images are cut into planes, one
// per channel and remainder of row and column modulo the stride, zero-padded, every row `pitch`
// floats long. On planes a tap is one constant offset, so a whole batch of small images is a single
// one-dimensional correlation with pixels in the vector lanes: the few results that straddle rows
// or images are computed and dropped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "simd/conv_plan.h"
#include "simd/workspace.h"

namespace thimble::simd {

struct PlanarShape {
  int first_row, first_column;    // the smallest offsets of any tap
  int row_phases, column_phases;  // remainders modulo the step that some tap may read
  int shift_rows, shift_columns;  // the largest offsets within a plane
  int planes;                     // row_phases * column_phases * input channels of a group
  int images, image_runs;         // images per task, and how many tasks that makes
  int rows, bands;                // output rows per task, and how many tasks that makes
  int columns, strips;            // output columns per task, and how many tasks that makes
  int plane_rows, pitch;          // of one image in one plane
  // Results are computed in runs of neighbouring positions: one run over all images of a task, or
  // one run per image where the rows between two images are worth skipping.
  int runs;
  int64_t run_length, run_pitch;
  int64_t plane_floats, out_floats;  // of all images of a task: a plane, a plane of results

  // Of each group of channels.
  [[nodiscard]] int64_t tasks() const { return int64_t{image_runs} * bands * strips; }

  // Where input channel c of a tap starts.
  [[nodiscard]] int64_t offset(const ConvPlan& plan, const ConvTap& tap, int c) const {
    const int row = tap.row - first_row;
    const int column = tap.column - first_column;
    const int64_t phase =
        static_cast<int64_t>(row % plan.row_step) * column_phases + column % plan.column_step;
    return (phase * plan.group_in + c) * plane_floats +
           static_cast<int64_t>(row / plan.row_step) * pitch + column / plan.column_step;
  }
};

// Part of a row: `pixels` x `channels` values, copied between an image (channels side by side,
// pixels a fixed step apart) and planes (pixels side by side, channels a plane apart).
struct PlanarCopy {
  ptrdiff_t image, plane;  // where it starts, from the row's start in the image and the first plane
  int first;               // pixel of the row
  int pixels, channels;

  // Its pixels within a strip [column, column + columns), step floats apart in the image.
  [[nodiscard]] PlanarCopy within(int column, int columns, ptrdiff_t step) const {
    const int from = std::max(first, column);
    const int count = std::max(0, std::min(first + pixels, column + columns) - from);
    return {image + (from - first) * step, plane + (from - first) - column, from, count, channels};
  }
};

struct PlanarCopies {
  PlanarCopy* parts;
  int count;
};

// Parts that bring one image row into the planes of all column phases. Taken from the workspace.
[[nodiscard]] PlanarCopies plan_loads(const ConvPlan& plan, const PlanarShape& shape,
                                      Workspace& workspace);

// Parts that bring one row of results, in planes [column phase, padded_channels, out_floats], into
// the output image.
[[nodiscard]] PlanarCopies plan_stores(const ConvPlan& plan, const PlanarShape& shape,
                                       int padded_channels, Workspace& workspace);

// extra_planes: planes of results or output gradients that a task holds beside those of the input.
// Several images share a task as long as their planes hold at most batch_floats, by default what
// fits in the first-level cache; a single image is cut into bands that fit in the second, and bands
// of one row into strips.
[[nodiscard]] PlanarShape planar_shape(const ConvPlan& plan, int extra_planes,
                                       int64_t batch_floats = 10 * 1024);

}  // namespace thimble::simd
