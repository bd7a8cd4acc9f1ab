/* Kernels of int8 layers on a board: checksums of their results, which are those of the reference
   kernels on the host. M4 and M7 run the kernels of the target cortex-m-dsp, M55 those of helium,
   RISC-V those of c99. */
#include <stdio.h>
#include <string.h>

#include "ops/families/kernel/ref_c.h"

/* Of which target: 0 the reference, 1 c99, 2 cortex-m-dsp, 3 helium. On the host, where there are
   none of their instructions, all can be compiled. */
#ifndef KERNELS
#if defined(__ARM_FEATURE_MVE)
#define KERNELS 3
#elif defined(__ARM_FEATURE_DSP)
#define KERNELS 2
#elif defined(__arm__) || defined(__riscv)
#define KERNELS 1
#else
#define KERNELS 0
#endif
#endif

#if KERNELS == 3
#include "ops/families/quantized/depthwise_helium.h"
#include "ops/families/quantized/masked_grad_helium.h"
#include "ops/families/quantized/weight_grad_helium.h"
#include "ops/quantized_add/helium.h"
#elif KERNELS == 2
#include "ops/families/quantized/depthwise_cortex_m_dsp.h"
#include "ops/families/quantized/masked_grad_cortex_m_dsp.h"
#include "ops/families/quantized/sum_cortex_m_dsp.h"
#include "ops/families/quantized/weight_grad_cortex_m_dsp.h"
#include "ops/families/unary/grad_by_bits_cortex_m_dsp.h"
#elif KERNELS == 1
#include "ops/families/quantized/masked_grad_micro.h"
#include "ops/families/unary/grad_by_bits_micro.h"
#include "ops/quantized_conv2d_weight_grad/micro.h"
#else
#include "ops/activation_bits/ref.h"
#include "ops/quantized_add/ref.h"
#include "ops/quantized_conv2d/ref.h"
#include "ops/quantized_conv2d_input_grad/ref.h"
#include "ops/quantized_conv2d_weight_grad/ref.h"
#include "ops/quantized_dense/ref.h"
#endif
#if KERNELS >= 2
#include "ops/error_int8/cortex_m_dsp.h"
#include "ops/families/binary/mul_cortex_m_dsp.h"
#include "ops/families/reduction/sum_to_cortex_m_dsp.h"
#include "ops/int8_error_grad/cortex_m_dsp.h"
#include "ops/quantized_sum_grad/cortex_m_dsp.h"
#else
#include "ops/error_int8/ref.h"
#define ERROR_INT8_OWN_ROUNDING /* is there already */
#if KERNELS == 1
#include "ops/int8_error_grad/micro.h"
#else
#include "ops/int8_error_grad/ref.h"
#endif
#include "ops/mul/ref.h"
#include "ops/quantized_sum_grad/ref.h"
#include "ops/sum_to/ref.h"
#endif
#if KERNELS >= 1
#include "ops/quantized_conv2d/micro.h"
#include "ops/quantized_dense/micro.h"
#if KERNELS <= 2
#include "ops/quantized_add/micro.h"
#endif
#define INTEGER_MICRO
#endif
#include "ops/sgd_update/ref.h"
#if KERNELS == 3
#include "ops/families/update/integer_helium.h"
#elif KERNELS == 2
#include "ops/families/update/integer_cortex_m_dsp.h"
#elif KERNELS == 1
#include "ops/families/update/integer_micro.h"
#endif

enum { MOST = 16384, CHANNELS = 160 };

static int8_t image[MOST], weights[MOST];
static int8_t y[MOST];
static uint8_t bits[MOST / 8 + 1];
static float dy[MOST], dx[MOST];
static int32_t bias[CHANNELS];
static struct {
  quantized_conv2d_dims dims;
  quantized_factor factors[CHANNELS];
} of;

static uint32_t state;
static uint32_t next_word(void) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

static uint32_t hash(uint32_t from, const void* data, size_t n) {
  const uint8_t* bytes = (const uint8_t*)data;
  for (size_t i = 0; i < n; ++i) from = (from ^ bytes[i]) * 16777619u;
  return from;
}

static void sizes(conv_dims* d, int h, int w, int c, int k, int r, int s, int stride, int pad,
                  int groups) {
  memset(d, 0, sizeof *d);
  d->n = 1;
  d->h = h;
  d->w = w;
  d->c = c;
  d->k = k;
  d->r = r;
  d->s = s;
  d->p = (h + 2 * pad - r) / stride + 1;
  d->q = (w + 2 * pad - s) / stride + 1;
  d->stride_h = d->stride_w = stride;
  d->pad_top = d->pad_left = pad;
  d->dilation_h = d->dilation_w = 1;
  d->groups = groups;
}

/* A convolution of a window of r x s; c: channels of x, k: of y. */
static void convolution(int h, int w, int c, int k, int r, int s, int stride, int pad, int groups) {
  conv_dims* d = &of.dims.conv;
  uint32_t sum = 2166136261u;
  memset(&of, 0, sizeof of);
  sizes(d, h, w, c, k, r, s, stride, pad, groups);
  for (int i = 0; i < h * w * c; ++i) image[i] = (int8_t)next_word();
  for (int i = 0; i < k * r * s * c / groups; ++i) weights[i] = (int8_t)next_word();
  for (int i = 0; i < k; ++i) {
    const int taps = r * s * c / groups;
    bias[i] = (int32_t)next_word() % 40000 - 20000;
    of.factors[i].scale = 0.03F * (float)(1 + next_word() % 100) / (float)(taps + 20);
  }
  /* Sums that saturate. */
  bias[0] = INT32_MIN;
  bias[k - 1] = INT32_MAX - 3;
  of.factors[k - 1].scale = 1e-9F;
  of.dims.input_zero_point = (int32_t)(next_word() % 3) * -64;
  of.dims.out.low = INT8_MIN;
  of.dims.out.high = INT8_MAX;
  const size_t results = (size_t)(d->p * d->q * k);
  for (int odd = 0; odd < 2; ++odd) {
    of.dims.out.zero_point = (int32_t)(next_word() % 128) * 2 - 128 + odd;
    quantized_conv2d_ref(y, image, weights, bias, &of.dims);
    sum = hash(sum, y, results);
    memset(bits, 0xff, sizeof bits);
    quantized_conv2d_inside_ref(bits, image, weights, NULL, &of.dims);
    sum = hash(sum, bits, results / 8);
    memset(y, 0, results);
    quantized_conv2d_masked_ref(y, bits, image, weights, bias, &of.dims);
    sum = hash(hash(sum, y, results), bits, results / 8);
  }
  printf("convolution %dx%dx%d to %d, window %dx%d, stride %d: %08lx\n", h, w, c, k, r, s, stride,
         (unsigned long)sum);
}

/* A dense layer. */
static void dense(int rows, int features, int units) {
  static struct {
    quantized_dense_dims dims;
    quantized_factor factors[CHANNELS];
  } layer;
  const quantized_dense_dims dims = {rows, units, features, -5, {0, 4, INT8_MIN, INT8_MAX}};
  const size_t results = (size_t)(rows * units);
  uint32_t sum = 2166136261u;
  layer.dims = dims;
  for (int i = 0; i < rows * features; ++i) image[i] = (int8_t)next_word();
  for (int i = 0; i < units * features; ++i) weights[i] = (int8_t)next_word();
  for (int i = 0; i < units; ++i) {
    bias[i] = (int32_t)next_word() % 40000 - 20000;
    layer.factors[i].scale = 0.03F * (float)(1 + next_word() % 100) / (float)(features + 20);
  }
  quantized_dense_ref(y, image, weights, bias, &layer.dims);
  sum = hash(sum, y, results);
  memset(bits, 0, sizeof bits);
  quantized_dense_inside_ref(bits, image, weights, NULL, &layer.dims);
  sum = hash(sum, bits, (results + 7) / 8);
  memset(bits, 0, sizeof bits);
  quantized_dense_masked_ref(y, bits, image, weights, bias, &layer.dims);
  sum = hash(hash(sum, y, results), bits, (results + 7) / 8);
  printf("dense %dx%d to %d: %08lx\n", rows, features, units, (unsigned long)sum);
}

/* Gradients of a convolution. smallest: of the numbers of dy, a power of two below which floats
   have few bits, or 0. */
static void gradients(int h, int w, int c, int k, int r, int s, int stride, int pad, int groups,
                      float smallest) {
  quantized_conv2d_weight_grad_dims dims;
  conv_dims* d = &dims.conv;
  uint32_t sum = 2166136261u;
  sizes(d, h, w, c, k, r, s, stride, pad, groups);
  dims.zero_point = -7;
  const int taps = k * r * s * c / groups;
  const int results = d->p * d->q * k;
  for (int i = 0; i < h * w * c; ++i) image[i] = (int8_t)next_word();
  for (int i = 0; i < taps; ++i) weights[i] = (int8_t)next_word();
  for (int i = 0; i < results; ++i) {
    dy[i] = next_word() % 5 == 0 ? 0 : (float)((int32_t)next_word() - 0x7fffff) * 0x1p-30F;
    if (smallest > 0 && i % 3 == 0) dy[i] *= smallest;
  }
  quantized_conv2d_input_grad_ref(dx, dy, weights, d);
  sum = hash(sum, dx, sizeof *dx * (size_t)(h * w * c));
  for (int i = 0; i < h * w * c / 8 + 1; ++i) bits[i] = (uint8_t)next_word();
  quantized_conv2d_input_grad_masked_ref(dx, dy, weights, bits, d);
  sum = hash(sum, dx, sizeof *dx * (size_t)(h * w * c));
  quantized_conv2d_weight_grad_ref(dx, image, dy, &dims);
  sum = hash(sum, dx, sizeof *dx * (size_t)taps);
  if (groups == c && k == c && stride == 1 && d->p == h && d->q == w) {
    quantized_depthwise_input_grad_ref(dy, dy, weights, d);
    sum = hash(sum, dy, sizeof *dy * (size_t)results);
  }
  printf("gradients %dx%dx%d from %d, window %dx%d, stride %d: %08lx\n", h, w, c, k, r, s, stride,
         (unsigned long)sum);
}

/* What else a step of int8 layers calls, on rows of c numbers. */
static void elementwise(int rows, int c) {
  const int n = rows * c;
  const binary_dims scaled = {n, 2, {c, rows}, {1, c}, {1, 0}};
  const binary_dims repeated = {n, 2, {c, rows}, {0, 1}, {1, c}};
  const reduce_dims over_rows = {c, rows, 1, {1, {c}, {1}}, {1, {rows}, {c}}};
  const grad_by_bits_dims masked = {n, 0};
  uint32_t sum = 2166136261u;
  for (int i = 0; i < n; ++i) dy[i] = (float)((int32_t)next_word() - 0x7fffff) * 0x1p-30F;
  for (int i = 0; i < n / 8 + 1; ++i) bits[i] = (uint8_t)next_word();
  memset(dx, 0xff, sizeof dx);
  grad_by_bits_ref(dx, dy, bits, &masked);
  sum = hash(sum, dx, sizeof *dx * (size_t)n);
  mul_ref(dx, dx, dy + 1, &scaled);
  sum = hash(sum, dx, sizeof *dx * (size_t)n);
  mul_ref(dx, dy + 3, dy, &repeated);
  sum = hash(sum, dx, sizeof *dx * (size_t)n);
  sum_to_ref(dx, dy, &over_rows);
  sum = hash(sum, dx, sizeof *dx * (size_t)c);
  const quantized_sum_grad_dims summed = {rows, c};
  quantized_sum_grad_ref(dx, dx + n, dy, dy + 5, 0, &summed);
  sum = hash(sum, dx, sizeof *dx * (size_t)(n + c));
  quantized_sum_grad_ref(dx, dx + n, dx, dy + 5, bits, &summed);
  sum = hash(sum, dx, sizeof *dx * (size_t)(n + c));
  printf("numbers %dx%d: %08lx\n", rows, c, (unsigned long)sum);
}

/* The same of sizes that a compiler knows: one row takes as many bytes as there are rows. */
__attribute__((flatten)) static void known_sizes(void) {
  static const quantized_sum_grad_dims d = {128, 32};
  static const reduce_dims over_rows = {32, 128, 1, {1, {32}, {1}}, {1, {128}, {32}}};
  uint32_t sum = 2166136261u;
  for (int i = 0; i < 128 * 32; ++i) dy[i] = (float)((int32_t)next_word() - 0x7fffff) * 0x1p-30F;
  for (int i = 0; i < 128 * 4; ++i) bits[i] = (uint8_t)next_word();
  quantized_sum_grad_ref(dx, dx + 128 * 32, dy, dy + 5, bits, &d);
  sum = hash(sum, dx, sizeof *dx * 129 * 32);
  quantized_sum_grad_ref(dx, dx + 128 * 32, dy, dy + 5, 0, &d);
  sum = hash(sum, dx, sizeof *dx * 129 * 32);
  sum_to_ref(dx, dy, &over_rows);
  sum = hash(sum, dx, sizeof *dx * 32);
  printf("known sizes: %08lx\n", (unsigned long)sum);
}

/* A gradient of n numbers that waits in 8 bits. */
static void errors(int n, float largest) {
  const error_int8_dims d = {n};
  float scale;
  uint32_t sum = 2166136261u;
  for (int i = 0; i < n; ++i) {
    dx[i] = (float)((int32_t)next_word() - 0x7fffff) * 0x1p-23F * largest;
    dy[i] = (float)((int32_t)next_word() - 0x7fffff) * 0x1p-23F;
  }
  error_to_int8_ref(y, &scale, dx, &d);
  sum = hash(hash(sum, y, (size_t)n), &scale, sizeof scale);
  add_int8_error_ref(dy, dy, y, &scale, &d);
  printf("errors %d: %08lx\n", n, (unsigned long)hash(sum, dy, sizeof *dy * (size_t)n));
}

/* Gradients of a layer from errors of int8. */
static void int8_errors(int h, int c, int k, int r, int stride, int groups, int largest) {
  int8_error_conv_dims d = {.factor_step = 1, .zero_point = -9};
  uint32_t sum = 2166136261u;
  float scale = 0.0123F, unit;
  sizes(&d.conv, h, h, c, k, r, r, stride, r / 2, groups);
  for (int i = 0; i < d.conv.p * d.conv.q * k; ++i) y[i] = (int8_t)(next_word() % 255 - 127);
  if (largest) memset(y, 127, sizeof y);
  for (int i = 0; i < MOST; ++i) image[i] = (int8_t)next_word();
  for (int i = 0; i < k * r * r * c / groups; ++i) weights[i] = (int8_t)next_word();
  if (largest) memset(weights, 127, sizeof weights);
  for (int i = 0; i < k; ++i) dy[i] = (float)(next_word() % 1000 + 1) * 0x1p-12F;
  if (largest) { /* sums overflow int32 from 515 channels on */
    for (int i = 0; i < k; ++i) dy[i] = 1;
  }
  for (int i = 0; i < MOST / 8; ++i) bits[i] = (uint8_t)next_word();
  {
    const int8_error_dims of_bias = {d.conv.p * d.conv.q, k, 1};
    int8_error_weight_grad_ref(dx, image, y, &scale, dy, bits, &d);
    sum = hash(sum, dx, sizeof *dx * (size_t)(k * r * r * c / groups));
    int8_error_bias_grad_ref(dx, y, &scale, dy, bits, &of_bias);
    sum = hash(sum, dx, sizeof *dx * (size_t)k);
    int8_error_input_grad_ref((int8_t*)dx, &unit, y, &scale, dy, weights, largest ? 0 : bits, 0, 0,
                              &d);
    sum = hash(hash(sum, dx, (size_t)(h * h * c)), &unit, sizeof unit);
    int8_error_input_grad_ref(image, &unit, y, &scale, dy, weights, bits, image, &scale, &d);
    sum = hash(hash(sum, image, (size_t)(h * h * c)), &unit, sizeof unit);
  }
  printf("int8 errors %d %d->%d %dx%d: %08lx\n", h, c, k, r, r, (unsigned long)sum);
}

/* Sums of n numbers with these scales, and which lie within the bounds. */
static void sums(int n, float a_scale, float b_scale, float y_scale) {
  const quantized_sum_dims d = {.walk = {n, 1, {n}, {{1}, {1}}},
                                .out = {.low = -128, .high = 127, .zero_point = 5},
                                .a_zero_point = 3,
                                .b_zero_point = -17,
                                .a_scale = a_scale,
                                .b_scale = b_scale,
                                .y_scale = y_scale};
  uint32_t sum = 2166136261u;
  for (int i = 0; i < n; ++i) {
    image[i] = (int8_t)next_word();
    weights[i] = (int8_t)next_word();
  }
  memset(bits, 0, sizeof bits);
  quantized_add_inside_ref(bits, image, weights, &d);
  sum = hash(sum, bits, sizeof bits);
  quantized_add_ref(y, image, weights, &d);
  sum = hash(sum, y, (size_t)n);
  quantized_add_ref(image, image, image + 1, &d);
  printf("sums %d: %08lx\n", n, (unsigned long)hash(sum, image, (size_t)n));
}

/* Weights [k, c] of which some channels are trained, with one unit for each k. */
static void update(int k, int c, int is_wide) {
  static struct {
    sgd_integer_dims dims;
    int32_t indices[4];
  } some = {{{0}, {0}}, {0, 1, 5, 6}};
  static uint32_t words[6] = {7, 8, 9, 10, 0, 0};
  const int n = is_wide ? k * c : 4 * k;
  float rate = 0.37F;
  int32_t step = 1;
  void* const out[1] = {is_wide ? (void*)bias : (void*)weights};
  const void* const in[6] = {words, out[0], dy, &rate, &step, dx};
  integer_dims* const walk = &some.dims.walk;
  const integer_dims dims = {.n = n,
                             .size = is_wide ? 0 : c,
                             .inner = is_wide ? 0 : 1,
                             .count = is_wide ? 0 : 4,
                             .unit_run = is_wide ? c : 4,
                             .units = k,
                             .is_wide = is_wide,
                             .stream = 5};
  *walk = dims;
  for (int i = 0; i < n; ++i) {
    dy[i] = (float)((int32_t)next_word() - 0x7fffff) * (i % 3 ? 0x1p-24F : 0x1p-17F);
    if (i % 41 == 7) dy[i] = i % 2 ? 0x1.5p33F : -INFINITY;
    if (i % 43 == 8) dy[i] = NAN;
  }
  for (int i = 0; i < k; ++i) dx[i] = (float)(1 + next_word() % 100) * 0.013F;
  for (int i = 0; i < k * c; ++i) {
    weights[i] = (int8_t)next_word();
    bias[i % CHANNELS] = (int32_t)next_word();
  }
  sgd_rounded_update_ref(out, in, &some.dims);
  printf("update %dx%d: %08lx\n", k, c,
         (unsigned long)hash(hash(2166136261u, weights, (size_t)(k * c)), bias, sizeof bias));
}

int main(void) {
  state = 1;
  convolution(9, 8, 16, 8, 1, 1, 1, 0, 1);
  convolution(8, 9, 8, 32, 1, 1, 1, 0, 1);
  convolution(4, 4, 96, 48, 1, 1, 1, 0, 1);
  convolution(5, 5, 27, 19, 1, 1, 1, 0, 1);
  convolution(1, 1, 40, 10, 1, 1, 1, 0, 1);
  convolution(1, 3, 40, 16, 1, 1, 1, 0, 1);
  convolution(4, 6, 576, 24, 1, 1, 1, 0, 1);
  convolution(24, 22, 3, 16, 3, 3, 2, 1, 1);
  convolution(11, 13, 5, 24, 3, 3, 1, 1, 1);
  convolution(9, 9, 8, 16, 2, 2, 2, 0, 1);
  convolution(3, 33, 20, 12, 1, 1, 1, 0, 1);
  convolution(2, 64, 16, 8, 1, 1, 1, 0, 1);
  convolution(5, 40, 3, 8, 3, 3, 1, 1, 1);
  convolution(12, 64, 16, 16, 3, 3, 1, 1, 16);
  convolution(16, 17, 24, 24, 3, 3, 2, 1, 24);
  convolution(16, 16, 24, 24, 3, 3, 2, 1, 24);
  convolution(9, 9, 8, 8, 2, 2, 1, 0, 8);
  convolution(8, 16, 8, 8, 2, 2, 2, 0, 8);
  convolution(9, 16, 8, 8, 5, 5, 2, 2, 8);
  convolution(8, 8, 40, 40, 5, 5, 1, 2, 40);
  convolution(4, 4, 48, 48, 5, 5, 1, 2, 48);
  convolution(16, 32, 8, 8, 7, 7, 2, 3, 8);
  convolution(8, 8, 24, 24, 7, 7, 1, 3, 24);
  convolution(8, 8, 24, 24, 7, 7, 2, 3, 24);
  convolution(7, 7, 5, 5, 3, 3, 1, 1, 5);
  convolution(6, 6, 8, 16, 3, 3, 1, 1, 8);
  convolution(5, 90, 8, 8, 3, 3, 1, 1, 8);
  dense(1, 400, 24);
  dense(3, 84, 10);
  dense(2, 700, 12);
  gradients(1, 1, 40, 24, 1, 1, 1, 0, 1, 0);
  gradients(8, 8, 48, 12, 1, 1, 1, 0, 1, 0);
  gradients(4, 4, 24, 96, 1, 1, 1, 0, 1, 0);
  gradients(4, 4, 24, 96, 1, 1, 1, 0, 1, 0x1p-110F);
  gradients(4, 4, 72, 96, 1, 1, 1, 0, 1, 0);
  gradients(3, 3, 10, 70, 1, 1, 1, 0, 1, 0);
  gradients(5, 3, 8, 7, 1, 1, 1, 0, 1, 0);
  gradients(9, 7, 6, 8, 3, 3, 2, 1, 1, 0);
  gradients(4, 4, 16, 16, 5, 5, 1, 2, 16, 0);
  gradients(4, 4, 16, 16, 5, 5, 1, 2, 16, 0x1p-115F);
  gradients(8, 8, 16, 16, 3, 3, 1, 1, 16, 0);
  gradients(8, 4, 9, 9, 7, 7, 1, 3, 9, 0);
  gradients(5, 6, 16, 16, 3, 3, 1, 1, 16, 0);
  gradients(8, 8, 18, 18, 7, 7, 2, 3, 18, 0);
  gradients(8, 8, 18, 18, 7, 7, 2, 3, 18, 0x1p-112F);
  elementwise(16, 24);
  elementwise(64, 8);
  elementwise(130, 16);
  elementwise(3, 13);
  known_sizes();
  update(70, 9, 0);
  update(33, 8, 0);
  update(15, 10, 1);
  update(CHANNELS, 1, 1);
  errors(1027, 0.003F);
  errors(64, 0x1p-130F);
  int8_errors(5, 36, 43, 1, 1, 1, 0);
  int8_errors(4, 24, 160, 1, 1, 1, 0);
  int8_errors(3, 7, 600, 1, 1, 1, 0);
  int8_errors(3, 16, 600, 1, 1, 1, 1);
  int8_errors(8, 6, 10, 3, 2, 1, 0);
  int8_errors(6, 19, 19, 3, 1, 19, 0);
  int8_errors(4, 20, 20, 5, 1, 20, 1);
  int8_errors(8, 12, 12, 7, 2, 12, 0);
  int8_errors(20, 4, 4, 3, 1, 4, 0);
  sums(4003, 0.0235F, 0.0512F, 0.0731F);
  sums(4096, 0.5F, 0.25F, 0.75F);
  sums(2049, 0x1.fffffep-9F, 0x1.000002p-7F, 0x1.fffffep-8F);
  sums(133, 0x1p-50F, 0x1p-52F, 0x1p-49F);
  return 0;
}
