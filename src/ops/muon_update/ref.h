#include "ops/muon_update/dims.h"

/* y = x x^T or x z, all row-major. x: [rows, inner]; z: [inner, columns]. */
static void muon_gram(real* y, const real* x, int rows, int inner) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < rows; ++j) {
      real sum = 0;
      for (int k = 0; k < inner; ++k) {
        sum += x[(ptrdiff_t)i * inner + k] * x[(ptrdiff_t)j * inner + k];
      }
      y[(ptrdiff_t)i * rows + j] = sum;
    }
  }
}
static void muon_product(real* y, const real* x, const real* z, int rows, int inner, int columns) {
  for (int i = 0; i < rows; ++i) {
    real* to = y + (ptrdiff_t)i * columns;
    for (int j = 0; j < columns; ++j) to[j] = 0;
    for (int k = 0; k < inner; ++k) {
      const real share = x[(ptrdiff_t)i * inner + k];
      for (int j = 0; j < columns; ++j) to[j] += share * z[(ptrdiff_t)k * columns + j];
    }
  }
}

/* Where element i of the matrix stands in the wide one. */
static ptrdiff_t muon_place(ptrdiff_t i, const muon_dims* d) {
  return d->rows > d->columns ? i % d->columns * d->rows + i / d->columns : i;
}

static void muon_matrix(real* const* out, const real* param, const real* grad, real lr,
                        const real* buffer, real* scratch, const muon_dims* d) {
  const int low = muon_low(d);
  const int high = muon_high(d);
  const real momentum = (real)d->momentum;
  const real shrink = (real)(1.0 - (double)lr * d->weight_decay);
  const real rate = (real)((double)lr * d->ratio);
  real* x = scratch;
  real* y = x + d->n;
  real* gram = y + d->n;
  real* square = gram + (ptrdiff_t)low * low;
  double squares = 0.0;
  double norm;
  for (int i = 0; i < d->n; ++i) {
    const real kept = buffer[i] + (1 - momentum) * (grad[i] - buffer[i]);
    const real step = d->nesterov ? grad[i] + momentum * (kept - grad[i]) : kept;
    squares += (double)step * (double)step;
    x[muon_place(i, d)] = step;
    out[1][i] = kept;
  }
  norm = math_double_sqrt(squares);
  norm = norm < d->epsilon ? d->epsilon : norm;
  for (int i = 0; i < d->n; ++i) x[i] *= (real)(1.0 / norm);
  for (int step = 0; step < d->steps; ++step) {
    muon_gram(gram, x, low, high);
    muon_product(square, gram, gram, low, low, low);
    for (int i = 0; i < low * low; ++i) {
      square[i] = (real)d->b * gram[i] + (real)d->c * square[i];
    }
    muon_product(y, square, x, low, low, high);
    for (int i = 0; i < d->n; ++i) x[i] = (real)d->a * x[i] + y[i];
  }
  for (int i = 0; i < d->n; ++i) out[0][i] = shrink * param[i] - rate * x[muon_place(i, d)];
}

/* Muon. out: {param [n], momentum_buffer [n]} of a matrix, {param, exp_avg, exp_avg_sq} of anything
   else, each the memory of the input of that name or a copy of it; first: momentum_buffer or
   exp_avg, second: exp_avg_sq or NULL; lr, step: [1]; workspace: muon_scratch(d) numbers. */
static void muon_update_ref(real* const* out, const real* param, const real* grad, const real* lr,
                            const int32_t* step, const real* first, const real* second,
                            void* workspace, const muon_dims* d) {
  if (d->rows > 0) {
    muon_matrix(out, param, grad, *lr, first, (real*)workspace, d);
  } else {
    const adam_dims* a = &d->adamw;
    const adam_factors factors = adam_factors_at(a, (double)*lr * d->adamw_share, *step);
    for (int i = 0; i < d->n; ++i) {
      const real g = grad[i];
      const real m = first[i] + (real)(1.0 - a->beta1) * (g - first[i]);
      const real v = (real)a->beta2 * second[i] + (real)(1.0 - a->beta2) * g * g;
      out[1][i] = m;
      out[2][i] = v;
      out[0][i] =
          (real)factors.shrink * param[i] -
          (real)factors.step_size * m / ((real)factors.root * (real)sqrt(v) + (real)a->epsilon);
    }
  }
}
