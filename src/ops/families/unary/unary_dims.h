/* Sizes and constants of the elementwise kernels. Plain C99. */
#ifndef THIMBLE_OPS_COMMON_UNARY_DIMS_H
#define THIMBLE_OPS_COMMON_UNARY_DIMS_H

typedef struct {
  int n;   /* elements */
  float a; /* constants of the formula, named by the op */
  float b;
} unary_dims;

/* Formulas that several ops share; no argument overflows them. */
#define SIGMOID(x) ((x) < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-(x))))
#define SOFTPLUS(x) (((x) < 0 ? 0 : (x)) + log1p(exp(-fabs(x)))) /* ln(1 + e^x) */

/* Defines <op>_ref: y[i] = value, an expression in x, which is `wide`, and d. y: [n], may alias
   x. */
#define UNARY_REF(op, value)                                            \
  static void op##_ref(real* y_, const real* x_, const unary_dims* d) { \
    for (int i = 0; i < d->n; ++i) {                                    \
      const wide x = (wide)x_[i];                                       \
      y_[i] = (real)(value);                                            \
    }                                                                   \
    (void)d;                                                            \
  }

/* Defines <op>_grad_ref: dx[i] = value, an expression in dy, d and `kept` (x, or y where the
   derivative reads the output). dx: [n], may alias dy or kept. */
#define UNARY_GRAD_REF(op, kept, value)                                                           \
  static void op##_grad_ref(real* dx_, const real* dy_, const real* kept_, const unary_dims* d) { \
    for (int i = 0; i < d->n; ++i) {                                                              \
      const real dy = dy_[i];                                                                     \
      const real kept = kept_[i];                                                                 \
      dx_[i] = (value);                                                                           \
    }                                                                                             \
    (void)d;                                                                                      \
  }

#endif
