/* The function of sum_micro.h in one instruction: of Cortex-M's single precision, vmla rounds the
   product and then the sum (vfma does not). Source: Arm, "ARMv7-M Architecture Reference Manual".
 */
#ifndef THIMBLE_OPS_COMMON_SUM_MICRO_H_
#define THIMBLE_OPS_COMMON_SUM_MICRO_H_

static inline float quantized_micro_plus(float sum, float a, float b) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'
  __asm__("vmla.f32 %0, %1, %2" : "+t"(sum) : "t"(a), "t"(b));
  return sum;
#else
  return sum + a * b;
#endif
}

#endif
