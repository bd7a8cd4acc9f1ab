// Workspaces of the gradients from errors of int8; the same for every vector target.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd/int8_error_sums.h"
#include "simd/int8_errors.h"
#include "simd/workspace.h"

namespace thimble::simd {

// Channels that a workspace is laid out for at once: two vectors of the widest target.
inline constexpr int kErrorChannels = 32;
// Words of errors that a task of depthwise channels keeps, about: they stay in a cache.
inline constexpr int64_t kErrorWords = 48 * 1024;
inline constexpr int64_t kErrorPixels = INT8_ERROR_ROWS;
inline constexpr int kErrorProducts = INT8_ERROR_PRODUCTS;

constexpr bool is_error_pixel(const conv_dims& d) {
  return d.r == 1 && d.s == 1 && d.stride_h == 1 && d.stride_w == 1 && d.pad_top == 0 &&
         d.pad_left == 0 && d.h == d.p && d.w == d.q;
}

// Elements of a task.
inline constexpr int64_t kErrorElements = 16384;

struct ErrorInputsScratch {
  int32_t* largest;      // [tasks]
  int32_t* multipliers;  // [k], and zeros: of each group, whole vectors are read
  int16_t* errors;       // [groups, pixels of e and one of zeros, k, an even number]
  int32_t* weights;      // [groups, taps, pairs of k, padded c]
  // By channel:
  int32_t* taps;   // [blocks of channels, r, s, kErrorChannels]
  int32_t* words;  // [threads, rows, q + 1, kErrorChannels], and zeros
  int64_t worker_words;
  int band;  // rows of dx that a task computes
  int rows;  // of e that they read, at most
};

// Numbers of `multipliers`.
constexpr int64_t error_multipliers(const conv_dims& d) {
  return round_up(d.k, kErrorChannels) + kErrorChannels;
}

// A task of kErrorInputPixels pixels, or of a row.
inline constexpr int kErrorInputPixels = 64;

inline void carve_error_inputs(Workspace& own, const conv_dims& d, int threads,
                               ErrorInputsScratch& s) {
  const int64_t pixels = int64_t{d.n} * d.h * d.w;
  if (int8_errors_by_channel(d)) {
    const int64_t blocks = divide_up(d.c, kErrorChannels);
    const int64_t row = int64_t{d.q + 1} * kErrorChannels;
    const int64_t halo = int64_t{d.r - 1} * d.dilation_h / d.stride_h + 2;
    const int64_t fit = std::max<int64_t>(kErrorWords / row - halo, 1) * d.stride_h;
    s.band = static_cast<int>(std::min<int64_t>(std::max(d.h, 1), fit));
    s.rows = static_cast<int>(std::min<int64_t>(d.p, s.band / d.stride_h + halo));
    // Narrow vectors have more tasks.
    s.largest = own.take<int32_t>(d.n * divide_up(d.h, s.band) * divide_up(d.c, 2));
    s.taps = own.take<int32_t>(blocks * d.r * d.s * kErrorChannels);
    s.worker_words = s.rows * row + kErrorChannels;
    s.words = own.take<int32_t>(threads * s.worker_words);
    return;
  }
  const int64_t pairs = divide_up(d.k / d.groups, 2);
  const int64_t tasks =
      is_error_pixel(d) ? divide_up(pixels, kErrorInputPixels) : int64_t{d.n} * d.h;
  s.largest = own.take<int32_t>(tasks * d.groups);
  s.multipliers = own.take<int32_t>(error_multipliers(d));
  s.errors = own.take<int16_t>(d.groups * (int64_t{d.n} * d.p * d.q + 1) * 2 * pairs);
  s.weights = own.take<int32_t>(d.groups * int64_t{d.r} * d.s * pairs *
                                round_up(d.c / d.groups, kErrorChannels));
}

// Of general weights: output channels and numbers of a window's row of a task, and pixels that are
// packed at once.
inline constexpr int kErrorWeightRows = 64;
inline constexpr int kErrorWeightPixels = 256;

struct ErrorWeightsScratch {
  int8_t* errors;  // [k, pixels, an even number], and some more
  int32_t* image;  // [threads, kErrorWeightPixels / 2, kErrorChannels]
  bool has_edge;   // windows are not of one pixel: the image is copied with what they reach
  int8_t* padded;  // [n, padded_h, padded_w, c], and some more
  int padded_h, padded_w;
  // By channel, of each thread:
  int32_t* own;  // words of a row of e, of rows of x, and sums
  int64_t own_words;
  int64_t row_words;    // of e
  int64_t image_words;  // of a row of x
  int rows;             // of x
};

inline void carve_error_weights(Workspace& own, const conv_dims& d, int threads,
                                ErrorWeightsScratch& s) {
  if (int8_errors_by_channel(d)) {
    s.row_words = divide_up(d.q, 2) * kErrorChannels;
    s.image_words =
        (int64_t{d.q + d.q % 2 - 1} * d.stride_w + int64_t{d.s - 1} * d.dilation_w + 1) *
        kErrorChannels;
    s.rows = (d.r - 1) * d.dilation_h + 1;
    s.own_words = s.row_words + s.rows * s.image_words + int64_t{d.r} * d.s * kErrorChannels * 3;
    s.own_words = round_up(s.own_words, 16);
    s.own = own.take<int32_t>(threads * s.own_words);
    return;
  }
  s.errors = own.take<int8_t>(d.k * round_up(int64_t{d.n} * d.p * d.q, 2) + 64);
  s.image = own.take<int32_t>(int64_t{threads} * kErrorWeightPixels / 2 * kErrorChannels);
  s.has_edge = !is_error_pixel(d);
  s.padded_h = (d.p - 1) * d.stride_h + (d.r - 1) * d.dilation_h + 1;
  s.padded_w = (d.q - 1) * d.stride_w + (d.s - 1) * d.dilation_w + 1;
  if (s.has_edge) {
    s.padded = own.take<int8_t>(int64_t{d.n} * s.padded_h * s.padded_w * d.c + kErrorChannels);
  }
}

}  // namespace thimble::simd
