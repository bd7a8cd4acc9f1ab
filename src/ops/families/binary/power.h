/* Powers for bias corrections. Plain C99. */
#ifndef THIMBLE_OPS_COMMON_POWER_H_
#define THIMBLE_OPS_COMMON_POWER_H_

/* x to the power n >= 0 by squaring: the same bits on every machine. */
static inline double whole_power(double x, int n) {
  double result = 1.0;
  for (; n > 0; n >>= 1) {
    if (n & 1) result *= x;
    x *= x;
  }
  return result;
}

#endif
