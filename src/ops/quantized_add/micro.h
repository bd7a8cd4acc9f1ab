/* quantized_add for microcontrollers, in the place of the functions of ref.h and with their
   results: one loop where nothing is broadcast. Plain C99. */
#include "ops/families/quantized/nearest_micro.h"
#include "ops/families/quantized/sum_dims.h"

/* Whether quantized_micro_add_level gives the results. */
static int quantized_micro_add_is_plain(const quantized_sum_dims* d) {
  return !d->out.fixed_point && d->walk.count == 1 && d->walk.stride[0][0] == 1 &&
         d->walk.stride[1][0] == 1 && d->out.low == INT8_MIN && d->out.high == INT8_MAX;
}

/* The sum before it is brought within the bounds; beyond them maybe another one. */
static inline int32_t quantized_micro_add_level(int32_t a, int32_t b, const quantized_sum_dims* d) {
  const float left = (float)(a - d->a_zero_point) * d->a_scale;
  const float right = (float)(b - d->b_zero_point) * d->b_scale;
  return quantized_micro_nearest((left + right) / d->y_scale) + d->out.zero_point;
}

static void quantized_micro_plain_add(int8_t* y, const int8_t* a, const int8_t* b,
                                      const quantized_sum_dims* d, int n) {
  const quantized_sum_dims own = *d; /* y may lie anywhere: these stay in registers */
  for (int i = 0; i < n; ++i) {
    const int32_t v = quantized_micro_add_level(a[i], b[i], &own);
    y[i] = (int8_t)(v < INT8_MIN ? INT8_MIN : v > INT8_MAX ? INT8_MAX : v);
  }
}

static void quantized_micro_plain_add_inside(uint8_t* bits, const int8_t* a, const int8_t* b,
                                             const quantized_sum_dims* d, int n) {
  const quantized_sum_dims own = *d;
  for (int first = 0; first < n; first += 8) {
    const int last = first + 8 < n ? first + 8 : n;
    int byte = 0;
    for (int i = first; i < last; ++i) {
      const int32_t v = quantized_micro_add_level(a[i], b[i], &own);
      byte |= ((uint32_t)v + 128U < 256U) << (i - first);
    }
    bits[first / 8] = (uint8_t)byte;
  }
}

#ifndef QUANTIZED_ADD_LOOPS /* helium.h has its own */
static void quantized_micro_add(int8_t* y, const int8_t* a, const int8_t* b,
                                const quantized_sum_dims* d, int n) {
  quantized_micro_plain_add(y, a, b, d, n);
}
static void quantized_micro_add_inside(uint8_t* bits, const int8_t* a, const int8_t* b,
                                       const quantized_sum_dims* d, int n) {
  quantized_micro_plain_add_inside(bits, a, b, d, n);
}
#else
static void quantized_micro_add(int8_t* y, const int8_t* a, const int8_t* b,
                                const quantized_sum_dims* d, int n);
static void quantized_micro_add_inside(uint8_t* bits, const int8_t* a, const int8_t* b,
                                       const quantized_sum_dims* d, int n);
#endif

static void quantized_add_ref(int8_t* y, const int8_t* a, const int8_t* b,
                              const quantized_sum_dims* d) {
  const nary_dims* walk = &d->walk;
  if (quantized_micro_add_is_plain(d)) {
    quantized_micro_add(y, a, b, d, walk->n);
    return;
  }
  NARY_FOR_EACH(walk, at,
                y[i] = quantized_clamp(quantized_sum_unbounded(a[at[0]], b[at[1]], 1, d), &d->out));
}

static void quantized_add_inside_ref(uint8_t* bits, const int8_t* a, const int8_t* b,
                                     const quantized_sum_dims* d) {
  const nary_dims* walk = &d->walk;
  if (quantized_micro_add_is_plain(d)) {
    quantized_micro_add_inside(bits, a, b, d, walk->n);
    return;
  }
  NARY_FOR_EACH(
      walk, at,
      quantized_add_bit(
          bits, i, quantized_inside(quantized_sum_unbounded(a[at[0]], b[at[1]], 1, d), &d->out)));
}
