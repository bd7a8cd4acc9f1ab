#include "ops/confusion_matrix/dims.h"

/* The class that a row of scores predicts, -1 where one is NaN. */
static int confusion_predicted(const real* x, const confusion_dims* d) {
  int best = 0;
  if (d->binary) return x[0] != x[0] ? -1 : x[0] > (real)d->threshold;
  for (int c = 0; c < d->classes; ++c) {
    if (x[c] != x[c]) return -1;
    if (x[c] > x[best]) best = c;
  }
  return best;
}

/* y[label, predicted] = the share of rows. x: [rows, classes], or [rows] if binary; labels: [rows];
   y: [classes, classes]. */
static void confusion_matrix_ref(real* y, const real* x, const int32_t* labels,
                                 const confusion_dims* d) {
  const int width = d->binary ? 1 : d->classes;
  for (int i = 0; i < d->classes * d->classes; ++i) y[i] = 0;
  for (int row = 0; row < d->rows; ++row) {
    const int predicted = confusion_predicted(x + (ptrdiff_t)row * width, d);
    const int32_t label = labels[row];
    if (predicted >= 0 && label >= 0 && label < d->classes) y[label * d->classes + predicted] += 1;
  }
  for (int i = 0; i < d->classes * d->classes; ++i) y[i] /= (real)d->rows;
}

/* The score of a class from its counts as label, as prediction, and as both. */
static double class_score_of(double both, double label, double predicted, int score) {
  const double top = score == CLASS_F1 ? 2 * both : both;
  const double below = score == CLASS_PRECISION ? predicted
                       : score == CLASS_RECALL  ? label
                                                : label + predicted;
  return below > 0 ? top / below : 0;
}

/* y[0] = the score. matrix: [classes, classes], of any scale. */
static void class_score_ref(real* y, const real* matrix, const class_score_dims* d) {
  double sum = 0;
  double weights = 0;
  double both_of_all = 0;
  double all = 0;
  for (int c = 0; c < d->classes; ++c) {
    double label = 0;
    double predicted = 0;
    double weight;
    const double both = matrix[c * d->classes + c];
    for (int k = 0; k < d->classes; ++k) {
      label += matrix[c * d->classes + k];
      predicted += matrix[k * d->classes + c];
    }
    both_of_all += both;
    all += label;
    weight = d->average == CLASS_BINARY  ? c == d->positive
             : d->average == CLASS_MACRO ? label + predicted > 0
                                         : label;
    sum += weight * class_score_of(both, label, predicted, d->score);
    weights += weight;
  }
  if (d->average == CLASS_MICRO) {
    sum = class_score_of(both_of_all, all, all, d->score);
    weights = 1;
  }
  y[0] = (real)(weights > 0 ? sum / weights : 0);
}
