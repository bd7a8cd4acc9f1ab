static uint32_t half_bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float half_float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The upper half of the bits, to the nearest, ties to even. NaN stays NaN. */
static uint16_t float_to_bf16(float value) {
  const uint32_t bits = half_bits_of(value);
  if (value != value) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* IEEE 754 binary16, to the nearest, ties to even. */
static uint16_t float_to_f16(float value) {
  const uint32_t bits = half_bits_of(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  uint32_t rest = bits & 0x7fffffff;
  if (value != value) return (uint16_t)(sign | 0x7e00);
  if (rest >= 0x47800000) return (uint16_t)(sign | 0x7c00); /* from 65536 on */
  if (rest < 0x38800000) { /* below 2^-14: the sum with 1/2 rounds to a multiple of 2^-24 */
    rest = half_bits_of(half_float_of(rest) + 0.5f) - 0x3f000000;
    return (uint16_t)(sign | rest);
  }
  rest += 0xfff + (rest >> 13 & 1);
  return (uint16_t)(sign | (rest - 0x38000000) >> 13);
}

static float f16_to_float(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  const uint32_t exponent = half & 0x7c00;
  uint32_t rest = (uint32_t)(half & 0x7fff) << 13;
  if (exponent == 0x7c00) return half_float_of(sign | (rest + 0x70000000));
  if (exponent == 0) { /* denormal: exact as the difference of two normal numbers */
    const float value = half_float_of(rest + 0x38800000) - half_float_of(0x38800000);
    return half_float_of(sign | half_bits_of(value));
  }
  return half_float_of(sign | (rest + 0x38000000));
}

/* y[i] = x[i] in 16 bits. x, y: [n]; nothing aliases. */
static void to_half_ref(uint16_t* y, const real* x, const half_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    const float value = (float)x[i];
    y[i] = d->brain_16 ? float_to_bf16(value) : float_to_f16(value);
  }
}

/* y[i] = x[i], exactly. x, y: [n]; nothing aliases. */
static void from_half_ref(real* y, const uint16_t* x, const half_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    y[i] = d->brain_16 ? half_float_of((uint32_t)x[i] << 16) : f16_to_float(x[i]);
  }
}
