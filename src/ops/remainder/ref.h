static real remainder_real(real a, real b) {
  const real rest = (real)fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* The quotient without its remainder, rounded to the whole number that it is but for rounding. */
static real remainder_floor_real(real a, real b) {
  if (b == 0) return a / b;
  const real whole = (a - remainder_real(a, b)) / b;
  const real below = (real)floor(whole);
  return whole - below > (real)0.5 ? below + 1 : below;
}

REMAINDER_REF(remainder, remainder_real(a, b), remainder_int(a, b))
REMAINDER_REF(fmod, (real)fmod(a, b), remainder_fmod_int(a, b))
REMAINDER_REF(floor_divide, remainder_floor_real(a, b), remainder_floor_int(a, b))
