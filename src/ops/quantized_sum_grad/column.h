/* A part of quantized_sum_grad, of the reference and of kernels for devices. Plain C99. */

/* Rows [begin, end) of one channel, and their sum. */
static real quantized_sum_grad_column(real* dsum, const real* dy, real factor, const uint8_t* bits,
                                      int c, int channels, int begin, int end) {
  real block = 0;
  for (int i = begin; i < end; ++i) {
    const ptrdiff_t at = (ptrdiff_t)i * channels + c;
    const int set = bits == 0 || (bits[at / 8] >> (at % 8) & 1) != 0;
    const real v = (set ? dy[at] : 0) * factor;
    dsum[at] = v;
    block += v;
  }
  return block;
}
