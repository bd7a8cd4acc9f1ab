/* The function of nearest_micro.h in two instructions: the first rounds halves to even, what 16
   bits cannot hold saturates. Source: Arm, "ARMv7-M Architecture Reference Manual". */
#include "simd/requantize.h"

static inline int32_t quantized_micro_nearest(float v) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP)
  int32_t bits;
  __asm__("vcvtr.s32.f32 %0, %1" : "=t"(v) : "t"(v));
  memcpy(&bits, &v, sizeof bits);
  __asm__("ssat %0, #16, %1" : "=r"(bits) : "r"(bits));
  return bits;
#else
  return quantized_nearest(v);
#endif
}
