/* Parts of integer_ref.h for microcontrollers, with its results: runs of one unit, and random words
   of several places at once. Plain C99. */
#ifndef INTEGER_MICRO
#define INTEGER_MICRO
#include "ops/families/update/integer_ref.h"
#endif

/* to[i] = from[i] by the unit of element first + i, for n elements; to may be from. */
static void integer_micro_divide(real* to, const real* from, const real* units,
                                 const integer_dims* d, int first, int n) {
  const int run = d->unit_run;
  int unit, left;
  if (!units || d->units == 0) {
    const real by = units ? units[0] : 1;
    for (int i = 0; i < n; ++i) to[i] = from[i] / by;
    return;
  }
  unit = first / run % d->units;
  left = run - first % run; /* elements with this unit */
  while (n > 0) {
    const int in_units = run == 1 ? d->units - unit : left;
    const int count = n < in_units ? n : in_units;
    const real* by = units + unit;
    const real own = *by;
    if (run == 1) {
      for (const real* const end = from + count; from != end;) *to++ = *from++ / *by++;
      unit = 0;
    } else {
      for (const real* const end = from + count; from != end;) *to++ = *from++ / own;
      unit = unit + 1 < d->units ? unit + 1 : 0;
      left = run;
    }
    n -= count;
  }
}

static void integer_begin(real* change, real* grad, const void* const* in, const integer_dims* d,
                          const int32_t* indices, int first, int count) {
  if (d->decay != 0.0 && !d->shrinks) {
    integer_any_begin(change, grad, in, d, indices, first, count);
    return;
  }
  integer_micro_divide(grad, (const real*)in[INTEGER_GRAD] + first, (const real*)in[INTEGER_UNITS],
                       d, first, count);
  memset(change, 0, sizeof *change * (size_t)count);
}

/* Numbers that are moved together. */
#define INTEGER_MICRO_NUMBERS 32

/* Some elements: their places in the parameter, and where their random words stand among those of
   the blocks `numbers`. */
typedef struct integer_places {
  int32_t places[INTEGER_MICRO_NUMBERS];
  int32_t words[INTEGER_MICRO_NUMBERS];
  uint32_t numbers[INTEGER_MICRO_NUMBERS];
  int blocks;
} integer_places;

/* Of n elements from number `first` on. */
static void integer_micro_places(integer_places* to, const integer_dims* d, const int32_t* indices,
                                 int first, int n) {
  int32_t* place = to->places;
  int32_t* word = to->words;
  int32_t drawn = -1, shift = 0;
  int blocks = 0;
  if (d->count == 0) {
    const int32_t block = first >> 2;
    for (int i = 0; i < n; ++i) {
      place[i] = first + i;
      word[i] = (first & 3) + i;
    }
    for (; 4 * blocks < (first & 3) + n; ++blocks) to->numbers[blocks] = (uint32_t)(block + blocks);
  } else {
    integer_walk w = integer_walk_from(d, first);
    while (n > 0) {
      /* Of indices that follow one another, or one element. */
      const int left = d->inner == 1 ? d->count - w.index : 1;
      const int run = n < left ? n : left;
      const int32_t at = w.outer * d->size * d->inner + w.at;
      for (const int32_t *index = indices + w.index, *const end = index + run; index != end;) {
        const int32_t own = at + *index++ * d->inner;
        if (own >> 2 != drawn) {
          drawn = own >> 2;
          to->numbers[blocks] = (uint32_t)drawn;
          shift = 4 * (blocks++ - drawn);
        }
        *place++ = own;
        *word++ = own + shift;
      }
      n -= run;
      if (run > 1) w.index += run - 1;
      integer_walk_on(&w, d);
    }
  }
  to->blocks = blocks;
}

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

/* The steps of integer_rounded for a change of this size, below 2^30. */
static inline int32_t integer_micro_steps(real size, uint32_t word) {
  const int32_t whole = (int32_t)size;
  const real rest = (size - (real)whole) * (real)0x1p32;
  const uint32_t whole_rest = (uint32_t)rest;
  const uint32_t most = whole_rest + (rest > (real)whole_rest);
  return whole + (word < most);
}

/* Moves n numbers by changes with the random words of their places. */
static void integer_micro_plain_move(void* numbers, const integer_dims* d, const real* moves,
                                     const integer_places* of, const uint32_t* words, int n) {
  int8_t* const bytes = (int8_t*)numbers;
  int32_t* const ints = (int32_t*)numbers;
  const int is_wide = d->is_wide;
  const int32_t* at = of->places;
  const int32_t* drawn = of->words;
  for (const real* const end = moves + n; moves != end;) {
    const real change = *moves++;
    const real size = change < 0 ? -change : change;
    const int32_t place = *at++;
    const uint32_t word = words[*drawn++];
    if (!(size < (real)0x1p30)) {
      integer_move(numbers, d, place, integer_rounded(change, word));
    } else {
      int32_t steps = integer_micro_steps(size, word);
      if (change < 0) steps = -steps;
      if (!is_wide) {
        const int32_t moved = bytes[place] + steps;
        bytes[place] = (int8_t)(moved < INT8_MIN ? INT8_MIN : moved > INT8_MAX ? INT8_MAX : moved);
      } else if ((uint32_t)ints[place] + 0x40000000U < 0x80000000U) {
        ints[place] += steps;
      } else {
        integer_move(numbers, d, place, steps);
      }
    }
  }
}

#ifndef INTEGER_MOVE /* integer_helium.h has its own */
static void integer_micro_move(void* numbers, const integer_dims* d, const real* moves,
                               const integer_places* of, const uint32_t* words, int n) {
  integer_micro_plain_move(numbers, d, moves, of, words, n);
}
#else
static void integer_micro_move(void* numbers, const integer_dims* d, const real* moves,
                               const integer_places* of, const uint32_t* words, int n);
#endif

static void integer_end(void* const* out, const void* const* in, const real* change,
                        const integer_dims* d, const int32_t* indices, int first, int count,
                        int has_residual) {
  const int last = first + count;
  if (has_residual || d->shrinks) {
    integer_any_end(out, in, change, d, indices, first, count, has_residual);
    return;
  }
  for (; first < last; first += INTEGER_MICRO_NUMBERS, change += INTEGER_MICRO_NUMBERS) {
    const int n = last - first < INTEGER_MICRO_NUMBERS ? last - first : INTEGER_MICRO_NUMBERS;
    philox_block words[INTEGER_MICRO_NUMBERS];
    integer_places of;
    real moves[INTEGER_MICRO_NUMBERS];
    integer_micro_divide(moves, change, (const real*)in[INTEGER_UNITS], d, first, n);
    integer_micro_places(&of, d, indices, first, n);
    integer_micro_words(words, (const uint32_t*)in[INTEGER_RNG], d->stream, of.numbers, of.blocks);
    integer_micro_move(out[0], d, moves, &of, words[0].v, n);
  }
}
