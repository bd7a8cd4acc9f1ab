// Sizes of the planar algorithm for convolutions of images with few channels. Images are split into
// planes: one per channel and per remainder of row and column modulo the stride, zero-padded, with
// rows of `pitch` floats. In a plane each tap is a constant offset, so a whole batch of small
// images is a single one-dimensional correlation with pixels in the vector lanes. The few results
// that straddle rows or images are computed and dropped.
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
  int images, image_runs;         // images per task, and the number of such tasks
  int rows, bands;                // output rows per task, and the number of such tasks
  int columns, strips;            // output columns per task, and the number of such tasks
  int plane_rows, pitch;          // of one image in one plane
  // Number of runs of contiguous positions that are computed: one over all images of a task, or one
  // per image if it pays to skip the rows between images.
  int runs;
  int64_t run_length, run_pitch;
  int64_t plane_floats,
      out_floats;  // floats for all images of a task: of a plane, and of a plane of results

  // Tasks for each group of channels.
  [[nodiscard]] int64_t tasks() const { return int64_t{image_runs} * bands * strips; }

  // Offset of input channel c of a tap.
  [[nodiscard]] int64_t offset(const ConvPlan& plan, const ConvTap& tap, int c) const {
    const int row = tap.row - first_row;
    const int column = tap.column - first_column;
    const int64_t phase =
        static_cast<int64_t>(row % plan.row_step) * column_phases + column % plan.column_step;
    return (phase * plan.group_in + c) * plane_floats +
           static_cast<int64_t>(row / plan.row_step) * pitch + column / plan.column_step;
  }
};

// A part of a row: `pixels` x `channels` values, copied between an image (contiguous channels,
// pixels at a fixed step) and planes (contiguous pixels, one plane per channel).
struct PlanarCopy {
  ptrdiff_t image, plane;  // where it starts, relative to the start of the row in the image and to
                           // the first plane
  int first;               // first pixel of the row
  int pixels, channels;

  // The part of its pixels in a strip [column, column + columns); step: floats between pixels in
  // the image.
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

// The copies that load one image row into the planes of all column phases. Allocated in the
// workspace.
[[nodiscard]] PlanarCopies plan_loads(const ConvPlan& plan, const PlanarShape& shape,
                                      Workspace& workspace);

// The copies that store one row of results, in planes [column phase, padded_channels, out_floats],
// into the output image.
[[nodiscard]] PlanarCopies plan_stores(const ConvPlan& plan, const PlanarShape& shape,
                                       int padded_channels, Workspace& workspace);

// extra_planes: planes of results or output gradients that a task needs besides those of the input.
// Several images share a task while their planes hold at most batch_floats, by default what fits
// the first-level cache. A single image is split into bands that fit the second-level cache, and
// bands of one row into strips.
[[nodiscard]] PlanarShape planar_shape(const ConvPlan& plan, int extra_planes,
                                       int64_t batch_floats = 10 * 1024);

}  // namespace thimble::simd
