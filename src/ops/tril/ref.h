#include "ops/tril/dims.h"

/* Row number `row` of all matrices: y = x in the columns [begin, end), else 0. y may be x. */
static void tril_row(unsigned char* y, const unsigned char* x, ptrdiff_t row, int begin, int end,
                     const tril_dims* d) {
  if (copy_is_packed(d->element)) {
    const ptrdiff_t first = row * d->columns;
    const int bits = d->element.bits;
    copy_packed(y, first, NULL, 0, 1, begin, bits);
    copy_packed(y, first + begin, x, first + begin, 1, end - begin, bits);
    copy_packed(y, first + end, NULL, 0, 1, d->columns - end, bits);
    return;
  }
  const size_t bytes = COPY_BYTES(d->element);
  unsigned char* to = y + (size_t)row * (size_t)d->columns * bytes;
  const unsigned char* from = x + (size_t)row * (size_t)d->columns * bytes;
  memset(to, 0, (size_t)begin * bytes);
  if (to != from && end > begin) {
    memcpy(to + (size_t)begin * bytes, from + (size_t)begin * bytes, (size_t)(end - begin) * bytes);
  }
  memset(to + (size_t)end * bytes, 0, (size_t)(d->columns - end) * bytes);
}

/* The rows of tril and triu. row: of all matrices. */
static void tril_part(unsigned char* y, const unsigned char* x, ptrdiff_t row, const tril_dims* d) {
  tril_row(y, x, row, 0, tril_bound((int)(row % d->rows), d->diagonal + 1, d), d);
}
static void triu_part(unsigned char* y, const unsigned char* x, ptrdiff_t row, const tril_dims* d) {
  tril_row(y, x, row, tril_bound((int)(row % d->rows), d->diagonal, d), d->columns, d);
}

/* The rest of the last byte of y where its elements are packed. */
static void tril_clear_rest(unsigned char* y, const tril_dims* d) {
  if (!copy_is_packed(d->element)) return;
  copy_clear_rest(y, (ptrdiff_t)d->count * d->rows * d->columns, d->element.bits);
}

/* x, y: [count, rows, columns]; y may be x. */
static void tril_ref(unsigned char* y, const unsigned char* x, const tril_dims* d) {
  for (ptrdiff_t row = 0; row < (ptrdiff_t)d->count * d->rows; ++row) tril_part(y, x, row, d);
  tril_clear_rest(y, d);
}
static void triu_ref(unsigned char* y, const unsigned char* x, const tril_dims* d) {
  for (ptrdiff_t row = 0; row < (ptrdiff_t)d->count * d->rows; ++row) triu_part(y, x, row, d);
  tril_clear_rest(y, d);
}
