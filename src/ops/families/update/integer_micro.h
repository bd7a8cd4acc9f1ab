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

#ifndef INTEGER_WORDS /* integer_cortex_m_dsp.h and integer_helium.h have their own */
/* words = n blocks of the stream, of these numbers. There is room for a multiple of four. */
static void integer_micro_words(philox_block* words, const uint32_t* rng, uint32_t stream,
                                const uint32_t* numbers, int n) {
  for (int i = 0; i < n; ++i) words[i] = philox_at(rng, stream, numbers[i]);
}
#else
static void integer_micro_words(philox_block* words, const uint32_t* rng, uint32_t stream,
                                const uint32_t* numbers, int n);
#endif

/* The steps of integer_rounded for a change below 2^30. */
static inline int32_t integer_micro_rounded(real change, uint32_t word) {
  const real size = change < 0 ? -change : change;
  const int32_t whole = (int32_t)size;
  const real rest = (size - (real)whole) * (real)0x1p32;
  const uint32_t whole_rest = (uint32_t)rest;
  const int goes_on = word < whole_rest || (word == whole_rest && rest > (real)whole_rest);
  const int32_t steps = whole + goes_on;
  return change < 0 ? -steps : steps;
}

/* Moves n numbers by changes with the random words of their places, the blocks of which follow one
   another. */
static void integer_micro_move(void* numbers, const integer_dims* d, const real* moves,
                               const int32_t* places, const philox_block* words, int n) {
  int8_t* const bytes = (int8_t*)numbers;
  int32_t drawn = places[0] >> 2;
  for (int i = 0; i < n; ++i) {
    const int32_t place = places[i];
    const real change = moves[i];
    uint32_t word;
    if (place >> 2 != drawn) {
      drawn = place >> 2;
      ++words;
    }
    word = words->v[place & 3];
    if (d->is_wide || !(change > (real)-0x1p30 && change < (real)0x1p30)) {
      integer_move(numbers, d, place, integer_rounded(change, word));
    } else {
      const int32_t moved = bytes[place] + integer_micro_rounded(change, word);
      bytes[place] = (int8_t)(moved < INT8_MIN ? INT8_MIN : moved > INT8_MAX ? INT8_MAX : moved);
    }
  }
}

static void integer_end(void* const* out, const void* const* in, const real* change,
                        const integer_dims* d, const int32_t* indices, int first, int count,
                        int has_residual) {
  const real* const units = (const real*)in[INTEGER_UNITS];
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
    int32_t drawn = -1;
    int blocks = 0;
    for (int i = 0; i < n;) {
      /* A run of one unit, within which places follow one another or indices do. */
      const real unit = units ? units[w.unit] : 1;
      const int in_units = d->units > 0 && w.unit_left < n - i ? w.unit_left : n - i;
      const int run = d->inner != 1 && d->count > 0                   ? 1
                      : d->count > 0 && d->count - w.index < in_units ? d->count - w.index
                                                                      : in_units;
      const int32_t at = integer_place(&w, d, indices);
      const int32_t* const index = d->count > 0 ? indices + w.index : NULL;
      for (int j = 0; j < run; ++j, ++i) {
        const int32_t place = index ? at + (index[j] - index[0]) * d->inner : at + j;
        places[i] = place;
        moves[i] = change[i] / unit;
        if (place >> 2 != drawn) {
          drawn = place >> 2;
          numbers[blocks++] = (uint32_t)drawn;
        }
      }
      if (run > 1) { /* on to the last of the run */
        if (d->count == 0) {
          w.at += run - 1;
        } else {
          w.index += run - 1;
        }
        w.unit_left -= run - 1;
      }
      integer_walk_on(&w, d);
    }
    integer_micro_words(words, (const uint32_t*)in[INTEGER_RNG], d->stream, numbers, blocks);
    integer_micro_move(out[0], d, moves, places, words, n);
    change += n;
    count -= n;
  }
}
