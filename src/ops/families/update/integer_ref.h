/* Updates of whole numbers, for a ref.h to include: an optimizer's rule says by how much the real
   number that each stands for is to change. In steps of whole numbers the change has a fractional
   part, for which there are two ways:
   - It is rounded at random, up with the probability of its fractional part, so that its mean is
     the change that was wanted.
   - It is rounded to nearest, and the rest waits in a residual for the next update.
   Of one sign and size, changes move in the same way however small they are; a change of 0 moves
   nothing. Plain C99: also emitted for devices. */
#include "ops/families/update/block_codes.h"
#include "ops/families/update/integer_dims.h"
#include "simd/philox.h"

/* Inputs of such a kernel; behind them stand the rule's states, updated in place. The random state
   or the residual (int16_t, in units of 2^-16) comes first. */
#define INTEGER_RNG 0
#define INTEGER_PARAM 1
#define INTEGER_GRAD 2
#define INTEGER_RATE 3
#define INTEGER_STEP 4
#define INTEGER_UNITS 5

/* The states among the outputs. Before them: the parameter and, if there is one, the residual. */
#define INTEGER_STATES(out, has_residual) ((out) + 1 + (has_residual))

/* Elements that a rule gets at a time: whole blocks of random words and of codes. */
#define INTEGER_CHUNK BLOCK_ELEMENTS

/* More than any number that moves. */
#define INTEGER_MOST_CHANGE 0x1p33

/* Where an element of the trained part stands. */
typedef struct integer_walk {
  int at;    /* within a run of `inner` elements */
  int index; /* number among the indices */
  int outer;
  int unit;
  int unit_left; /* elements with this unit */
} integer_walk;

static inline integer_walk integer_walk_from(const integer_dims* d, int first) {
  integer_walk w = {first, 0, 0, 0, 0};
  if (d->count > 0) {
    w.at = first % d->inner;
    w.index = first / d->inner % d->count;
    w.outer = first / d->inner / d->count;
  }
  if (d->units > 0) {
    w.unit = first / d->unit_run % d->units;
    w.unit_left = d->unit_run - first % d->unit_run;
  }
  return w;
}

/* The element's place in the parameter. */
static inline int integer_place(const integer_walk* w, const integer_dims* d,
                                const int32_t* indices) {
  return d->count == 0 ? w->at : (w->outer * d->size + indices[w->index]) * d->inner + w->at;
}

static inline void integer_walk_on(integer_walk* w, const integer_dims* d) {
  ++w->at;
  if (d->count > 0 && w->at == d->inner) {
    w->at = 0;
    if (++w->index == d->count) {
      w->index = 0;
      ++w->outer;
    }
  }
  if (d->units > 0 && --w->unit_left == 0) {
    w->unit_left = d->unit_run;
    w->unit = w->unit + 1 < d->units ? w->unit + 1 : 0;
  }
}

static inline double integer_number(const void* numbers, const integer_dims* d, int place) {
  return d->is_wide ? (double)((const int32_t*)numbers)[place]
                    : (double)((const int8_t*)numbers)[place];
}

static inline real integer_unit(const void* units, const integer_walk* w) {
  return units ? ((const real*)units)[w->unit] : 1;
}

/* See integer_begin. */
static void integer_any_begin(real* change, real* grad, const void* const* in,
                              const integer_dims* d, const int32_t* indices, int first, int count) {
  const real* given = (const real*)in[INTEGER_GRAD] + first;
  const int adds = d->decay != 0.0 && !d->shrinks;
  integer_walk w = integer_walk_from(d, first);
  for (int i = 0; i < count; ++i, integer_walk_on(&w, d)) {
    const real unit = integer_unit(in[INTEGER_UNITS], &w);
    grad[i] = given[i] / unit;
    if (adds) {
      const double number = integer_number(in[INTEGER_PARAM], d, integer_place(&w, d, indices));
      grad[i] = (real)((double)given[i] / (double)unit + d->decay * (double)unit * number);
    }
    change[i] = 0;
  }
}

#ifndef INTEGER_MICRO /* integer_micro.h has its own */
/* What the rule reads for the elements [first, first + count): derivatives by real numbers, and
   zeros, which it changes. in: of the kernel. */
static void integer_begin(real* change, real* grad, const void* const* in, const integer_dims* d,
                          const int32_t* indices, int first, int count) {
  integer_any_begin(change, grad, in, d, indices, first, count);
}
#else
static void integer_begin(real* change, real* grad, const void* const* in, const integer_dims* d,
                          const int32_t* indices, int first, int count);
#endif

/* By how much a change moves a number: word / 2^32 is drawn from [0, 1). */
static inline int64_t integer_rounded(real change, uint32_t word) {
  const real size = change < 0 ? -change : change;
  int64_t steps;
  real rest; /* times 2^32 */
  uint32_t whole_rest;
  if (!(size > 0)) return 0;
  if (size < (real)0x1p30) {
    const int32_t whole = (int32_t)size;
    steps = whole;
    rest = (size - (real)whole) * (real)0x1p32;
  } else {
    steps = (int64_t)(size < (real)INTEGER_MOST_CHANGE ? size : (real)INTEGER_MOST_CHANGE);
    rest = 0;
  }
  whole_rest = (uint32_t)rest;
  if (word < whole_rest || (word == whole_rest && rest > (real)whole_rest)) ++steps;
  return change < 0 ? -steps : steps;
}

/* The nearest whole number, halves to even; |x| below 2^51. */
static inline double integer_nearest(double x) { return x + 0x1.8p52 - 0x1.8p52; }

/* The same to nearest, with what earlier changes left. residual: in units of 2^-16. */
static inline int64_t integer_with_residual(double change, int16_t* residual) {
  double wanted = change;
  double whole;
  double rest;
  if (change != change) return 0;
  if (wanted < -INTEGER_MOST_CHANGE) wanted = -INTEGER_MOST_CHANGE;
  if (wanted > INTEGER_MOST_CHANGE) wanted = INTEGER_MOST_CHANGE;
  wanted += *residual * 0x1p-16;
  whole = integer_nearest(wanted);
  rest = integer_nearest((wanted - whole) * 0x1p16);
  *residual = (int16_t)(rest < 32767.0 ? rest : 32767.0);
  return (int64_t)whole;
}

/* What leaves the type stays at its end. */
static inline void integer_move(void* numbers, const integer_dims* d, int place, int64_t steps) {
  if (d->is_wide) {
    int32_t* at = (int32_t*)numbers + place;
    const int64_t moved = *at + steps;
    *at = moved < INT32_MIN ? INT32_MIN : moved > INT32_MAX ? INT32_MAX : (int32_t)moved;
  } else {
    int8_t* at = (int8_t*)numbers + place;
    const int64_t moved = *at + steps;
    *at = (int8_t)(moved < INT8_MIN ? INT8_MIN : moved > INT8_MAX ? INT8_MAX : moved);
  }
}

/* See integer_end. */
static void integer_any_end(void* const* out, const void* const* in, const real* change,
                            const integer_dims* d, const int32_t* indices, int first, int count,
                            int has_residual) {
  const double shrink = d->shrinks ? (double)*(const real*)in[INTEGER_RATE] * d->decay : 0.0;
  philox_block block = {{0, 0, 0, 0}};
  int drawn = -1; /* the number of the block */
  integer_walk w = integer_walk_from(d, first);
  for (int i = 0; i < count; ++i, integer_walk_on(&w, d)) {
    const int place = integer_place(&w, d, indices);
    const real unit = integer_unit(in[INTEGER_UNITS], &w);
    const double shrinks = d->shrinks ? shrink * integer_number(out[0], d, place) : 0.0;
    int64_t steps;
    if (has_residual) {
      const double moves = (double)change[i] / (double)unit - shrinks;
      steps = integer_with_residual(moves, (int16_t*)out[1] + first + i);
    } else {
      real moves = change[i] / unit;
      if (d->shrinks) moves = (real)((double)change[i] / (double)unit - shrinks);
      if (place / 4 != drawn) {
        drawn = place / 4;
        block = philox_at((const uint32_t*)in[INTEGER_RNG], d->stream, (uint32_t)drawn);
      }
      steps = integer_rounded(moves, block.v[place % 4]);
    }
    integer_move(out[0], d, place, steps);
  }
}

#ifndef INTEGER_MICRO /* integer_micro.h has its own */
/* Moves the elements [first, first + count) by what the rule made of the zeros. An element has the
   random number of its place. out, in: of the kernel. */
static void integer_end(void* const* out, const void* const* in, const real* change,
                        const integer_dims* d, const int32_t* indices, int first, int count,
                        int has_residual) {
  integer_any_end(out, in, change, d, indices, first, count, has_residual);
}
#else
static void integer_end(void* const* out, const void* const* in, const real* change,
                        const integer_dims* d, const int32_t* indices, int first, int count,
                        int has_residual);
#endif
