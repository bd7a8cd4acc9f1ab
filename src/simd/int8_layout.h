// How the sizes of int8 convolutions map onto memory. A transposed convolution goes as one ordinary
// convolution for each phase: the pixels of y whose places leave the same remainder by the stride
// see the same taps of the window.
#pragma once

#include <cstdint>
#include <numeric>

#include "simd/conv_dims.h"

namespace thimble::simd {

// The pixels of y and the taps of w that a convolution covers, where they are not all.
struct Int8Layout {
  int64_t image, row, column;   // of y: elements between neighbours
  bool transposed;              // w: [c,r,s,k/groups], else [k,r,s,c/groups]
  int window_h, window_w;       // of w
  int first_row, first_column;  // of the taps in w
  int row_step, column_step;
};

inline Int8Layout int8_layout(const conv_dims& d) {
  const int64_t row = int64_t{d.q} * d.k;
  return {d.p * row, row, d.k, false, d.r, d.s, 0, 0, 1, 1};
}

// The taps of a phase along one axis, and its places in y.
struct Int8PhaseAxis {
  int first_place, places;
  int first_tap, tap_step, taps;
  int pad, dilation;  // of the ordinary convolution of stride 1, whose taps go backwards
};

inline Int8PhaseAxis int8_phase(int phase, int places, int stride, int pad, int dilation,
                                int taps) {
  Int8PhaseAxis a{};
  a.first_place = static_cast<int>(((int64_t{phase} - pad) % stride + stride) % stride);
  if (a.first_place < places) a.places = (places - a.first_place + stride - 1) / stride;
  const int common = std::gcd(stride, dilation);
  a.tap_step = stride / common;
  a.dilation = dilation / common;
  // Tap r reads row (place + pad - r dilation) / stride where that is a whole number.
  while (a.first_tap < taps && (int64_t{a.first_tap} * dilation - phase) % stride != 0) {
    if (++a.first_tap >= a.tap_step) return a;  // a period without one
  }
  if (a.first_tap >= taps) return a;
  a.taps = (taps - a.first_tap + a.tap_step - 1) / a.tap_step;
  const int64_t first_read =
      (int64_t{a.first_place} + pad - int64_t{a.first_tap} * dilation) / stride;
  a.pad = static_cast<int>(int64_t{a.taps - 1} * a.dilation - first_read);
  return a;
}

// Calls body(dims, first element of y, layout) for each phase of a transposed convolution with
// places in y. Without taps dims.r or dims.s is 0.
template <class Body>
void for_each_int8_phase(const conv_dims& d, const Body& body) {
  const Int8Layout whole = int8_layout(d);
  for (int i = 0; i < d.stride_h; ++i) {
    const Int8PhaseAxis v = int8_phase(i, d.p, d.stride_h, d.pad_top, d.dilation_h, d.r);
    if (v.places == 0) continue;
    for (int j = 0; j < d.stride_w; ++j) {
      const Int8PhaseAxis u = int8_phase(j, d.q, d.stride_w, d.pad_left, d.dilation_w, d.s);
      if (u.places == 0) continue;
      conv_dims phase = d;
      phase.p = v.places, phase.q = u.places;
      phase.r = v.taps, phase.s = u.taps;
      phase.stride_h = phase.stride_w = 1;
      phase.pad_top = v.pad, phase.pad_left = u.pad;
      phase.dilation_h = v.dilation, phase.dilation_w = u.dilation;
      if (v.taps == 0 || u.taps == 0) phase.groups = 1;  // nothing but the bias
      Int8Layout layout = whole;
      layout.row *= d.stride_h;
      layout.column *= d.stride_w;
      layout.transposed = true;
      layout.first_row = v.first_tap + (v.taps - 1) * v.tap_step;
      layout.first_column = u.first_tap + (u.taps - 1) * u.tap_step;
      layout.row_step = -v.tap_step;
      layout.column_step = -u.tap_step;
      body(phase, v.first_place * whole.row + u.first_place * whole.column, layout);
    }
  }
}

}  // namespace thimble::simd
