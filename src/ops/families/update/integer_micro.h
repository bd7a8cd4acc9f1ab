/* Parts of integer_ref.h for microcontrollers, with its results: runs of one unit, and random words
   of several places at once. Plain C99. */
#ifndef INTEGER_MICRO
#define INTEGER_MICRO
#include "ops/families/update/integer_ref.h"
#endif

static void integer_begin(real* change, real* grad, const void* const* in, const integer_dims* d,
                          const int32_t* indices, int first, int count) {
  const real* given = (const real*)in[INTEGER_GRAD] + first;
  const real* const units = (const real*)in[INTEGER_UNITS];
  integer_walk w = integer_walk_from(d, first);
  int i = 0;
  if ((d->decay != 0.0 && !d->shrinks) || !units || d->units == 0) {
    integer_any_begin(change, grad, in, d, indices, first, count);
    return;
  }
  while (i < count) {
    const real unit = units[w.unit];
    const int end = count - i < w.unit_left ? count : i + w.unit_left;
    for (; i < end; ++i) {
      grad[i] = given[i] / unit;
      change[i] = 0;
    }
    w.unit_left = d->unit_run;
    w.unit = w.unit + 1 < d->units ? w.unit + 1 : 0;
  }
}

/* Numbers that are moved together. */
#define INTEGER_MICRO_NUMBERS 32

#ifndef INTEGER_HELIUM /* integer_helium.h has its own */
/* words = n blocks of the stream, of these numbers. There is room for a multiple of four. */
static void integer_micro_words(philox_block* words, const uint32_t* rng, uint32_t stream,
                                const uint32_t* numbers, int n) {
  for (int i = 0; i < n; ++i) words[i] = philox_at(rng, stream, numbers[i]);
}
#else
static void integer_micro_words(philox_block* words, const uint32_t* rng, uint32_t stream,
                                const uint32_t* numbers, int n);
#endif

static void integer_end(void* const* out, const void* const* in, const real* change,
                        const integer_dims* d, const int32_t* indices, int first, int count,
                        int has_residual) {
  integer_walk w = integer_walk_from(d, first);
  if (has_residual || d->shrinks) {
    integer_any_end(out, in, change, d, indices, first, count, has_residual);
    return;
  }
  while (count > 0) {
    const int n = count < INTEGER_MICRO_NUMBERS ? count : INTEGER_MICRO_NUMBERS;
    philox_block words[INTEGER_MICRO_NUMBERS];
    uint32_t numbers[INTEGER_MICRO_NUMBERS]; /* of blocks */
    int32_t places[INTEGER_MICRO_NUMBERS];
    real moves[INTEGER_MICRO_NUMBERS];
    uint32_t drawn = UINT32_MAX;
    int blocks = 0;
    for (int i = 0; i < n; ++i, integer_walk_on(&w, d)) {
      const int32_t place = integer_place(&w, d, indices);
      places[i] = place;
      moves[i] = change[i] / integer_unit(in[INTEGER_UNITS], &w);
      if ((uint32_t)place / 4 != drawn) numbers[blocks++] = drawn = (uint32_t)place / 4;
    }
    integer_micro_words(words, (const uint32_t*)in[INTEGER_RNG], d->stream, numbers, blocks);
    blocks = -1;
    drawn = UINT32_MAX;
    for (int i = 0; i < n; ++i) {
      const uint32_t place = (uint32_t)places[i];
      if (place / 4 != drawn) {
        drawn = place / 4;
        ++blocks;
      }
      integer_move(out[0], d, places[i], integer_rounded(moves[i], words[blocks].v[place % 4]));
    }
    change += n;
    count -= n;
  }
}
