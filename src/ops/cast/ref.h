/* Element i of a tensor of one of the types, exact in double. */
static double cast_load(const void* x, int type, int i) {
  switch (type) {
    case CAST_I32:
      return (double)((const int32_t*)x)[i];
    case CAST_U32:
      return (double)((const uint32_t*)x)[i];
    case CAST_I8:
      return (double)((const int8_t*)x)[i];
    case CAST_U8:
      return (double)((const uint8_t*)x)[i];
    default:
      return (double)((const real*)x)[i];
  }
}

/* value between low and high, NaN as 0: what an integer type can hold. */
static double cast_bounded(double value, double low, double high) {
  if (value != value) return 0;
  return value < low ? low : value > high ? high : value;
}

/* y[i] = x[i] in another type. x, y: [n]; no aliasing. */
static void cast_ref(unsigned char* y, const unsigned char* x, const cast_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    const double value = cast_load(x, d->from, i);
    switch (d->to) {
      case CAST_I32:
        ((int32_t*)(void*)y)[i] = (int32_t)cast_bounded(value, -2147483648.0, 2147483647.0);
        break;
      case CAST_U32:
        ((uint32_t*)(void*)y)[i] = (uint32_t)cast_bounded(value, 0, 4294967295.0);
        break;
      case CAST_I8:
        ((int8_t*)(void*)y)[i] = (int8_t)cast_bounded(value, -128, 127);
        break;
      case CAST_U8:
        y[i] = (uint8_t)cast_bounded(value, 0, 255);
        break;
      default:
        ((real*)(void*)y)[i] = (real)value;
    }
  }
}
