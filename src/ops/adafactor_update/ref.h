#include "ops/adafactor_update/dims.h"

/* What the product of a matrix's second moments must be divided by. row: [rows]. */
static real adafactor_divisor(const real* row, const adafactor_dims* d) {
  real sum = 0;
  for (int r = 0; r < d->rows; ++r) sum += row[r];
  return (real)fmax(sum / (real)d->rows, (real)d->epsilon1);
}

/* The gradient divided by the root of its second moment. */
static real adafactor_step(real grad, real moment, const adafactor_dims* d) {
  return grad / (real)sqrt(fmax(moment, (real)(d->epsilon1 * d->epsilon1)));
}

/* The second moments of one matrix: row: [rows], col: [columns], moved by a share towards the mean
   squares of grad: [rows, columns]. */
static void adafactor_moments(real* row, real* col, const real* row_, const real* col_,
                              const real* grad, real share, const adafactor_dims* d) {
  for (int r = 0; r < d->rows; ++r) {
    double squares = 0.0;
    for (int c = 0; c < d->columns; ++c) {
      squares += (double)grad[r * d->columns + c] * (double)grad[r * d->columns + c];
    }
    row[r] = row_[r] + share * ((real)(squares / d->columns) - row_[r]);
  }
  for (int c = 0; c < d->columns; ++c) {
    double squares = 0.0;
    for (int r = 0; r < d->rows; ++r) {
      squares += (double)grad[r * d->columns + c] * (double)grad[r * d->columns + c];
    }
    col[c] = col_[c] + share * ((real)(squares / d->rows) - col_[c]);
  }
}

/* Adafactor. out: {param [matrices, rows, columns], row_var [matrices, rows], col_var [matrices,
   columns]}, or, without matrices, {param [n], variance [n]}; each the memory of the input of that
   name or a copy of it; first, second: the states, the latter NULL without matrices; lr, step: [1].
   The gradient's sign counts only in the step: all else takes its square. */
static void adafactor_update_ref(real* const* out, const real* param, const real* grad,
                                 const real* lr, const int32_t* step, const real* first,
                                 const real* second, const adafactor_dims* d) {
  const int size = d->rows * d->columns;
  double param_squares = 0.0;
  double step_squares = 0.0;
  if (d->n == 0) return;
  for (int i = 0; i < d->n; ++i) param_squares += (double)param[i] * (double)param[i];
  const adafactor_factors factors = adafactor_factors_at(d, (double)*lr, *step, param_squares);
  const real shrink = (real)factors.shrink;
  const real share = (real)factors.share;
  for (int m = 0; m < d->matrices; ++m) {
    const real* g = grad + m * size;
    real* row = out[1] + m * d->rows;
    real* col = out[2] + m * d->columns;
    adafactor_moments(row, col, first + m * d->rows, second + m * d->columns, g, share, d);
    const real divisor = adafactor_divisor(row, d);
    for (int i = 0; i < size; ++i) {
      const real u = adafactor_step(g[i], row[i / d->columns] * col[i % d->columns] / divisor, d);
      step_squares += (double)u * (double)u;
    }
  }
  for (int i = 0; d->matrices == 0 && i < d->n; ++i) {
    out[1][i] = first[i] + share * (grad[i] * grad[i] - first[i]);
    const real u = adafactor_step(grad[i], out[1][i], d);
    step_squares += (double)u * (double)u;
  }
  real rate = (real)adafactor_rate(d, factors.alpha, step_squares);
  if (d->maximize) rate = -rate;
  for (int m = 0; m < d->matrices; ++m) {
    const real* row = out[1] + m * d->rows;
    const real* col = out[2] + m * d->columns;
    const real divisor = adafactor_divisor(row, d);
    for (int i = 0; i < size; ++i) {
      const int at = m * size + i;
      const real u =
          adafactor_step(grad[at], row[i / d->columns] * col[i % d->columns] / divisor, d);
      out[0][at] = shrink * param[at] - rate * u;
    }
  }
  for (int i = 0; d->matrices == 0 && i < d->n; ++i) {
    out[0][i] = shrink * param[i] - rate * adafactor_step(grad[i], out[1][i], d);
  }
}
