/* The random words of integer_micro.h for the target cortex-m-dsp: a block's numbers stay in
   registers. Results are the same. */
#define INTEGER_WORDS
#include "ops/families/update/integer_micro.h"

/* A round of the words r4, c1, r6 and c3. The next one has the latter two in lower1 and lower3. */
#define INTEGER_DSP_ROUND(c1, c3, lower1, lower3) \
  "umull " lower3                                 \
  ", r11, r9, r4\n"                               \
  "umull " lower1                                 \
  ", r4, r10, r6\n"                               \
  "eor r4, r4, " c1                               \
  "\n"                                            \
  "eor r6, r11, " c3                              \
  "\n"                                            \
  "eor r4, r4, r1\n"                              \
  "eor r6, r6, r2\n"                              \
  "add r1, r1, r0\n"                              \
  "add r2, r2, r3\n"
#define INTEGER_DSP_TWO_ROUNDS               \
  INTEGER_DSP_ROUND("r5", "r8", "r12", "lr") \
  INTEGER_DSP_ROUND("r12", "lr", "r5", "r8")

/* Counters become random words. */
static inline void integer_dsp_block(philox_block* block, uint32_t key0, uint32_t key1) {
#if defined(__ARM_FEATURE_DSP)
  register philox_block* r0 __asm__("r0") = block;
  register uint32_t r1 __asm__("r1") = key0;
  register uint32_t r2 __asm__("r2") = key1;
  __asm__ volatile(
      "ldmia r0, {r4, r5, r6, r8}\n"
      "push {r0}\n"
      "movw r9, #0x1f53\n"
      "movt r9, #0xd251\n"
      "movw r10, #0x8d57\n"
      "movt r10, #0xcd9e\n"
      "movw r0, #0x79b9\n"
      "movt r0, #0x9e37\n"
      "movw r3, #0xae85\n"
      "movt r3, #0xbb67\n"  // clang-format off
      INTEGER_DSP_TWO_ROUNDS INTEGER_DSP_TWO_ROUNDS INTEGER_DSP_TWO_ROUNDS
      INTEGER_DSP_TWO_ROUNDS INTEGER_DSP_TWO_ROUNDS  // clang-format on
      "pop {r0}\n"
      "stmia r0, {r4, r5, r6, r8}\n"
      : "+r"(r0), "+r"(r1), "+r"(r2)
      :
      : "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "cc", "memory");
#else
  *block = philox(block->v, (const uint32_t[2]){key0, key1});
#endif
}

/* Of functions that have registers to themselves. */
#define INTEGER_DSP_ALONE __attribute__((noinline))

static INTEGER_DSP_ALONE void integer_micro_words(philox_block* words, const uint32_t* rng,
                                                  uint32_t stream, const uint32_t* numbers, int n) {
  for (int i = 0; i < n; ++i) {
    words[i].v[0] = numbers[i];
    words[i].v[1] = stream;
    words[i].v[2] = rng[2];
    words[i].v[3] = rng[3];
    integer_dsp_block(&words[i], rng[0], rng[1]);
  }
}
