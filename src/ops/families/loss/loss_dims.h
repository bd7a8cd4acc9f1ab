/* Sizes and constants of the losses that are sums over elements. Plain C99: also emitted. */
#ifndef THIMBLE_OPS_COMMON_LOSS_DIMS_H
#define THIMBLE_OPS_COMMON_LOSS_DIMS_H

/* The divisor where the terms are not summed. */
#define LOSS_TERMS (-1)

typedef struct {
  int n;       /* elements */
  int divisor; /* what their sum is divided by, or LOSS_TERMS */
  double a;    /* a constant of the formula, named by the op */
} loss_dims;

/* What the derivative of term i is multiplied by. */
#define LOSS_SCALE(dy, i, d) ((d)->divisor == LOSS_TERMS ? (dy)[i] : (dy)[0] / (real)(d)->divisor)

/* Defines <op>_ref: y[0] = sum of value / divisor, or y[i] = value, an expression in x, t and d.
   x, t: [n]. Summed block by block, so that rounding grows with the number of blocks and not of
   elements. */
#define LOSS_REF(op, value)                                                         \
  static real op##_term(real x, real t, const loss_dims* d) {                       \
    (void)d;                                                                        \
    return (value);                                                                 \
  }                                                                                 \
  static void op##_ref(real* y, const real* x, const real* t, const loss_dims* d) { \
    real total = 0;                                                                 \
    if (d->divisor == LOSS_TERMS) {                                                 \
      for (int i = 0; i < d->n; ++i) y[i] = op##_term(x[i], t[i], d);               \
      return;                                                                       \
    }                                                                               \
    for (int begin = 0; begin < d->n; begin += 128) {                               \
      const int end = d->n - begin < 128 ? d->n : begin + 128;                      \
      real block = 0;                                                               \
      for (int i = begin; i < end; ++i) block += op##_term(x[i], t[i], d);          \
      total += block;                                                               \
    }                                                                               \
    y[0] = total / (real)d->divisor;                                                \
  }

/* Defines <op>_grad_ref: dx[i] = LOSS_SCALE * value, the derivative of one term by x.
   dx: [n], may alias x or t. */
#define LOSS_GRAD_REF(op, value)                                                      \
  static void op##_grad_ref(real* dx, const real* dy, const real* x_, const real* t_, \
                            const loss_dims* d) {                                     \
    for (int i = 0; i < d->n; ++i) {                                                  \
      const real x = x_[i];                                                           \
      const real t = t_[i];                                                           \
      (void)x;                                                                        \
      (void)t;                                                                        \
      dx[i] = LOSS_SCALE(dy, i, d) * (value);                                         \
    }                                                                                 \
  }

#endif
