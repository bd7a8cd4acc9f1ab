/* grad_by_bits for Cortex-M, in the place of the function of grad_by_bits_micro.h and with its
   results: numbers go through masks, four at a time. */
#include "ops/activation_bits/dims.h"

#define GRAD_BY_BITS_FOUR(a, b, c, d) \
  "ldmia %[dy]!, {r4, r5, r6, r8}\n"  \
  "sbfx %[mask], %[byte], #" a        \
  ", #1\n"                            \
  "and r4, r4, %[mask]\n"             \
  "sbfx %[mask], %[byte], #" b        \
  ", #1\n"                            \
  "and r5, r5, %[mask]\n"             \
  "sbfx %[mask], %[byte], #" c        \
  ", #1\n"                            \
  "and r6, r6, %[mask]\n"             \
  "sbfx %[mask], %[byte], #" d        \
  ", #1\n"                            \
  "and r8, r8, %[mask]\n"             \
  "stmia %[dx]!, {r4, r5, r6, r8}\n"

#ifndef GRAD_BY_BITS_HELIUM /* grad_by_bits_helium.h has its own */
/* dx[i] = dy[i] where bit i is set, else 0, for n numbers, a multiple of eight. */
static void grad_by_bits_eights(real* dx, const real* dy, const uint8_t* bits, int n) {
  const uint8_t* const end = bits + n / 8;
  if (bits == end) return;
#if defined(__ARM_FEATURE_DSP)
  {
    uint32_t byte, mask;
    __asm__ volatile("1:\n"
                     "ldrb %[byte], [%[bits]], #1\n" GRAD_BY_BITS_FOUR("0", "1", "2", "3")
                         GRAD_BY_BITS_FOUR("4", "5", "6", "7")
                     "cmp %[bits], %[end]\n"
                     "bne 1b\n"
                     : [dx] "+r"(dx), [dy] "+r"(dy), [bits] "+r"(bits), [byte] "=&r"(byte),
                       [mask] "=&r"(mask)
                     : [end] "r"(end)
                     : "r4", "r5", "r6", "r8", "cc", "memory");
  }
#else
  for (; bits != end; ++bits) {
    for (int i = 0; i < 8; ++i) *dx++ = *bits >> i & 1 ? *dy : 0, ++dy;
  }
#endif
}
#endif

static void grad_by_bits_ref(real* dx, const real* dy, const uint8_t* bits,
                             const grad_by_bits_dims* d) {
  const int whole = d->slope == 0 ? d->n / 8 * 8 : 0;
  grad_by_bits_eights(dx, dy, bits, whole);
  for (int i = whole; i < d->n; ++i) {
    const int set = bits[i / 8] >> (i % 8) & 1;
    dx[i] = set ? dy[i] : d->slope != 0 ? d->slope * dy[i] : 0;
  }
}
