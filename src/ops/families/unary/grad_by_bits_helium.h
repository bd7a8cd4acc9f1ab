/* The function of grad_by_bits_cortex_m_dsp.h in instructions of Helium, for the target helium. */
#define GRAD_BY_BITS_HELIUM
#include "ops/activation_bits/dims.h"

static void grad_by_bits_eights(real* dx, const real* dy, const uint8_t* bits, int n) {
  static const uint32_t masks[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  if (n == 0) return;
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  {
    uint32_t byte = 0;
    __asm__ volatile(
        "vldrw.32 q0, [%[masks]]\n"
        "vldrw.32 q1, [%[masks], #16]\n"
        "mov r4, #0\n"
        "dls lr, %[n]\n"
        "1:\n"
        "ldrb %[byte], [%[bits]], #1\n"
        "vdup.32 q2, %[byte]\n"
        "vand q3, q2, q0\n"
        "vpt.i32 ne, q3, r4\n"
        "vldrwt.32 q3, [%[dy]], #16\n"
        "vstrw.32 q3, [%[dx]], #16\n"
        "vand q3, q2, q1\n"
        "vpt.i32 ne, q3, r4\n"
        "vldrwt.32 q3, [%[dy]], #16\n"
        "vstrw.32 q3, [%[dx]], #16\n"
        "le lr, 1b\n"
        : [dx] "+r"(dx), [dy] "+r"(dy), [bits] "+r"(bits), [byte] "+r"(byte)
        : [masks] "r"(masks), [n] "r"(n / 8)
        : "lr", "r4", "q0", "q1", "q2", "q3", "cc", "memory");
  }
#else
  for (int i = 0; i < n; ++i) dx[i] = bits[i / 8] & masks[i % 8] ? dy[i] : 0;
#endif
}

#include "ops/families/unary/grad_by_bits_cortex_m_dsp.h"
