/* Tensors side by side along one axis. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_PARTS_DIMS_H
#define THIMBLE_OPS_COMMON_PARTS_DIMS_H

#include <stddef.h>

#include "ops/families/move/copy_dims.h"

enum { PARTS_MAX = 32 };

/* The whole is [outer, run of part 0, run of part 1, ...]. */
typedef struct {
  int outer;
  int count;          /* parts, at most PARTS_MAX */
  int run[PARTS_MAX]; /* elements of a part for each index of the axes before */
  copy_element element;
} parts_dims;

/* The whole y from its parts, of packed elements; those missing at the end or null are zeros. */
static inline void join_packed(unsigned char* y, const unsigned char* const* parts, int given,
                               const parts_dims* d) {
  const int bits = d->element.bits;
  ptrdiff_t at = 0;
  for (int o = 0; o < d->outer; ++o) {
    for (int p = 0; p < d->count; ++p) {
      const unsigned char* part = p < given ? parts[p] : NULL;
      copy_packed(y, at, part, (ptrdiff_t)o * d->run[p], 1, d->run[p], bits);
      at += d->run[p];
    }
  }
  copy_clear_rest(y, at, bits);
}

/* The parts of the whole x, of packed elements. */
static inline void separate_packed(unsigned char* const* parts, const unsigned char* x,
                                   const parts_dims* d) {
  const int bits = d->element.bits;
  ptrdiff_t at = 0;
  for (int o = 0; o < d->outer; ++o) {
    for (int p = 0; p < d->count; ++p) {
      copy_packed(parts[p], (ptrdiff_t)o * d->run[p], x, at, 1, d->run[p], bits);
      at += d->run[p];
    }
  }
  for (int p = 0; p < d->count; ++p) {
    copy_clear_rest(parts[p], (ptrdiff_t)d->outer * d->run[p], bits);
  }
}

/* Defines <op>_ref: the whole y from its parts; those missing at the end or null are zeros. */
#define JOIN_REF(op)                                                                   \
  static void op##_ref(unsigned char* y, const unsigned char* const* parts, int given, \
                       const parts_dims* d) {                                          \
    if (copy_is_packed(d->element)) {                                                  \
      join_packed(y, parts, given, d);                                                 \
      return;                                                                          \
    }                                                                                  \
    for (int o = 0; o < d->outer; ++o) {                                               \
      for (int p = 0; p < d->count; ++p) {                                             \
        const size_t bytes = (size_t)d->run[p] * COPY_BYTES(d->element);               \
        if (bytes == 0) continue;                                                      \
        if (p < given && parts[p]) {                                                   \
          memcpy(y, parts[p] + (size_t)o * bytes, bytes);                              \
        } else {                                                                       \
          memset(y, 0, bytes);                                                         \
        }                                                                              \
        y += bytes;                                                                    \
      }                                                                                \
    }                                                                                  \
  }

/* Defines <op>_ref: the parts of the whole x. */
#define SEPARATE_REF(op)                                                                           \
  static void op##_ref(unsigned char* const* parts, const unsigned char* x, const parts_dims* d) { \
    if (copy_is_packed(d->element)) {                                                              \
      separate_packed(parts, x, d);                                                                \
      return;                                                                                      \
    }                                                                                              \
    for (int o = 0; o < d->outer; ++o) {                                                           \
      for (int p = 0; p < d->count; ++p) {                                                         \
        const size_t bytes = (size_t)d->run[p] * COPY_BYTES(d->element);                           \
        if (bytes > 0) memcpy(parts[p] + (size_t)o * bytes, x, bytes);                             \
        x += bytes;                                                                                \
      }                                                                                            \
    }                                                                                              \
  }

#endif
