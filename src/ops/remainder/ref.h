#include "ops/remainder/dims.h"

static real remainder_real(real a, real b) {
  const real rest = (real)fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* The quotient without fmod's remainder, which may be that of the number above, rounded to the
   whole number that it is but for rounding. */
static real remainder_floor_real(real a, real b) {
  real rest;
  real whole;
  real below;
  if (b == 0) return a / b;
  rest = (real)fmod(a, b);
  whole = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) whole -= 1;
  if (whole == 0) return a / b * 0; /* of the quotient's sign */
  below = (real)floor(whole);
  return whole - below > (real)0.5 ? below + 1 : below;
}

REMAINDER_REF(remainder, remainder_real(a, b), remainder_int(a, b))
REMAINDER_REF(fmod, (real)fmod(a, b), remainder_fmod_int(a, b))
REMAINDER_REF(floor_divide, remainder_floor_real(a, b), remainder_floor_int(a, b))
