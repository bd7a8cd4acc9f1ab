// A convolution or its adjoint as a gather: every output pixel is a sum over taps, and each tap
// reads one input pixel. The adjoint of a strided convolution is split into phases (output pixels
// with equal remainders modulo the stride), each with only the taps that reach it, so that no
// arithmetic is spent on the zeros between strides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd/conv_dims.h"
#include "simd/workspace.h"

namespace thimble::simd {

// Output pixel (i, j) of a phase reads input pixel (i * row_step + row, j * column_step + column).
struct ConvTap {
  int row, column;
  ptrdiff_t weight;  // where the tap's weights start, in floats
};

// Output pixels (row + i * out_row_step, column + j * out_column_step), i < rows, j < columns.
struct ConvPhase {
  int row, column;
  int rows, columns;
  const ConvTap* taps;
  int tap_count;
};

// The weights of a convolution: f32, or the int8 integers that stand for them.
struct ConvWeights {
  const float* f32 = nullptr;
  const int8_t* i8 = nullptr;  // null: they are f32

  [[nodiscard]] float at(ptrdiff_t i) const {
    return i8 != nullptr ? static_cast<float>(i8[i]) : f32[i];
  }
  [[nodiscard]] ConvWeights from(ptrdiff_t i) const {
    return i8 != nullptr ? ConvWeights{nullptr, i8 + i} : ConvWeights{f32 + i, nullptr};
  }
};

// The smallest and largest offset of any tap, over all phases.
struct TapRange {
  int first = 0, last = 0;
};

// in: [images, in_h, in_w, in_c], out: [images, out_h, out_w, out_c].
struct ConvPlan {
  int images;
  int in_h, in_w, in_c;
  int out_h, out_w, out_c;
  int groups;
  int group_in, group_out;  // channels per group
  int pad_top, pad_left;    // of the convolution
  int row_step, column_step;
  int out_row_step, out_column_step;
  // The weight of output channel o and input channel i (within the group) is at
  // group * group_weights + tap.weight + o * weight_out_step + i * weight_in_step.
  ptrdiff_t weight_out_step, weight_in_step, group_weights;
  const ConvPhase* phases;
  int phase_count;
  int tap_count;  // taps of all phases
  TapRange tap_rows, tap_columns;
  // Taps come in groups of this size that read neighbouring pixels, left to right: within a group,
  // taps and channels of an image without channel groups are contiguous in memory.
  int tap_group;
  int activation;  // one of kernel_activation
  bool add_previous;

  // Rows of the largest phase, which is the first.
  [[nodiscard]] int phase_rows() const { return (out_h + out_row_step - 1) / out_row_step; }
  [[nodiscard]] int phase_columns() const {
    return (out_w + out_column_step - 1) / out_column_step;
  }
};

// The same convolution with images of another shape: a 1 x 1 window without stride and padding
// treats all pixels alike, so they are seen as one long row.
[[nodiscard]] conv_dims flattened(conv_dims d);

// The plan of out = conv(in, w): in has the shape of d's input. Taps and phases are allocated in
// the workspace; they are null while the workspace only counts.
[[nodiscard]] ConvPlan plan_forward(const conv_dims& d, Workspace& workspace);

// The plan of out = adjoint of conv(., w) at in: in has the shape of d's output, out that of d's
// input.
[[nodiscard]] ConvPlan plan_adjoint(const conv_dims& d, Workspace& workspace);

}  // namespace thimble::simd
