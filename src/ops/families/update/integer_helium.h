/* Random words and moves of integer_micro.h in instructions of Helium, for the target helium: four
   at a time. Results are the same. */
#define INTEGER_WORDS
#define INTEGER_MOVE
#include "ops/families/update/integer_micro.h"

#define INTEGER_HELIUM_ROUND(a, b) \
  "vmulh.u32 q6, " a               \
  ", q4\n"                         \
  "vmulh.u32 q7, " b               \
  ", q5\n"                         \
  "veor q6, q6, q3\n"              \
  "veor q7, q7, q1\n"              \
  "vmul.i32 q3, " a                \
  ", q4\n"                         \
  "vmul.i32 q1, " b                \
  ", q5\n"                         \
  "vdup.32 " a                     \
  ", %[k0]\n"                      \
  "vdup.32 " b                     \
  ", %[k1]\n"                      \
  "veor " a ", " a                 \
  ", q7\n"                         \
  "veor " b ", " b                 \
  ", q6\n"                         \
  "add %[k0], %[k0], %[w0]\n"      \
  "add %[k1], %[k1], %[w1]\n"

/* Of functions that have registers to themselves. */
#define INTEGER_HELIUM_ALONE __attribute__((noinline))

static INTEGER_HELIUM_ALONE void integer_micro_words(philox_block* words, const uint32_t* rng,
                                                     uint32_t stream, const uint32_t* numbers,
                                                     int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  for (; n > 0; n -= 4, words += 4, numbers += 4) {
    uint32_t k0 = rng[0], k1 = rng[1];
    __asm__ volatile(
        "vctp.32 %[n]\n"
        "vpst\n"
        "vldrwt.32 q0, [%[numbers]]\n"
        "vdup.32 q1, %[stream]\n"
        "ldrd r4, r5, [%[rng], #8]\n"
        "vdup.32 q2, r4\n"
        "vdup.32 q3, r5\n"
        "movw r4, #0x1f53\n"
        "movt r4, #0xd251\n"
        "movw r5, #0x8d57\n"
        "movt r5, #0xcd9e\n"
        "vdup.32 q4, r4\n"
        "vdup.32 q5, r5\n"
        "mov r4, #10\n"
        "dls lr, r4\n"
        "1:\n" INTEGER_HELIUM_ROUND("q0", "q2")
        "le lr, 1b\n"
        "mov r4, #0\n"
        "vidup.u32 q4, r4, #4\n"
        "vshl.i32 q4, q4, #2\n"
        "vstrw.32 q0, [%[words], q4]\n"
        "add r4, %[words], #4\n"
        "vstrw.32 q1, [r4, q4]\n"
        "add r4, %[words], #8\n"
        "vstrw.32 q2, [r4, q4]\n"
        "add r4, %[words], #12\n"
        "vstrw.32 q3, [r4, q4]\n"
        : [k0] "+r"(k0), [k1] "+r"(k1)
        : [n] "r"(n), [numbers] "r"(numbers), [stream] "r"(stream), [rng] "r"(rng),
          [words] "r"(words), [w0] "r"(0x9e3779b9U), [w1] "r"(0xbb67ae85U)
        : "lr", "r4", "r5", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
  }
#else
  for (int i = 0; i < n; ++i) words[i] = philox_at(rng, stream, numbers[i]);
#endif
}

/* The largest size of n changes. */
static inline real integer_helium_most(const real* moves, int n) {
  real most = 0;
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "dlstp.32 lr, %[n]\n"
      "1:\n"
      "vldrw.32 q0, [%[moves]], #16\n"
      "vmaxnmav.f32 %[most], q0\n"
      "letp lr, 1b\n"
      : [moves] "+r"(moves), [most] "+r"(most)
      : [n] "r"(n)
      : "lr", "q0", "cc", "memory");
#else
  for (int i = 0; i < n; ++i) {
    if (moves[i] > most) most = moves[i];
    if (-moves[i] > most) most = -moves[i];
  }
#endif
  return most;
}

/* The steps of changes below 2^31, in q4. Of a change that is no number they are 0. */
#define INTEGER_HELIUM_STEPS               \
  "vldrw.32 q0, [%[moves]], #16\n"         \
  "vldrw.32 q1, [%[drawn]], #16\n"         \
  "vldrw.32 q2, [%[words], q1, uxtw #2]\n" \
  "vldrw.32 q1, [%[places]], #16\n"        \
  "vabs.f32 q3, q0\n"                      \
  "vcvt.s32.f32 q4, q3\n"                  \
  "vcvt.f32.s32 q5, q4\n"                  \
  "vsub.f32 q3, q3, q5\n"                  \
  "vmul.f32 q3, q3, %[scale]\n"            \
  "vcvtp.u32.f32 q3, q3\n"                 \
  "vpt.u32 hi, q3, q2\n"                   \
  "vqaddt.s32 q4, q4, %[one]\n"            \
  "vpt.s32 lt, q0, zr\n"                   \
  "vnegt.s32 q4, q4\n"
#define INTEGER_HELIUM_MOVE(change)                                                                \
  __asm__ volatile(                                                                                \
      "dlstp.32 lr, %[n]\n"                                                                        \
      "1:\n" INTEGER_HELIUM_STEPS change "letp lr, 1b\n"                                           \
      : [moves] "+r"(moves), [drawn] "+r"(drawn), [places] "+r"(places)                            \
      : [numbers] "r"(numbers), [words] "r"(words), [scale] "r"(0x1p32F), [one] "r"(1), [n] "r"(n) \
      : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "cc", "memory")

/* In the place of the function of integer_micro.h. */
static INTEGER_HELIUM_ALONE void integer_micro_move(void* numbers, const integer_dims* d,
                                                    const real* moves, const integer_places* of,
                                                    const uint32_t* words, int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  const int32_t* places = of->places;
  const int32_t* drawn = of->words;
  if (!d->is_wide) {
    INTEGER_HELIUM_MOVE(
        "vldrb.s32 q5, [%[numbers], q1]\n"
        "vqadd.s32 q5, q5, q4\n"
        "vqmovnb.s32 q5, q5\n"
        "vqmovnb.s16 q5, q5\n"
        "vstrb.32 q5, [%[numbers], q1]\n");
    return;
  }
  if (integer_helium_most(moves, n) < (real)0x1p31) {
    INTEGER_HELIUM_MOVE(
        "vldrw.32 q5, [%[numbers], q1, uxtw #2]\n"
        "vqadd.s32 q5, q5, q4\n"
        "vstrw.32 q5, [%[numbers], q1, uxtw #2]\n");
    return;
  }
#endif
  integer_micro_plain_move(numbers, d, moves, of, words, n);
}
