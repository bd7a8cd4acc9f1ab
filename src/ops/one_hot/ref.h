/* y[row, c] = 1 where c = x[row], else 0. x: [rows]; y: [rows, classes]. */
static void one_hot_ref(real* y, const int32_t* x, const class_dims* d) {
  for (int row = 0; row < d->rows; ++row, y += d->classes) {
    for (int c = 0; c < d->classes; ++c) y[c] = x[row] == c;
  }
}
