/* Philox 4x32-10, a counter-based random generator. Source: Salmon, Moraes, Dror and Shaw,
   "Parallel random numbers: as easy as 1, 2, 3", SC 2011. Plain C99. */
#ifndef THIMBLE_SIMD_PHILOX_H
#define THIMBLE_SIMD_PHILOX_H

#include <stdint.h>

typedef struct {
  uint32_t v[4];
} philox_block;

/* The block of four random words for a counter under a key. */
static inline philox_block philox(const uint32_t counter[4], const uint32_t key[2]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  uint32_t k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = (uint64_t)0xD2511F53u * c0;
    const uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
    const uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    const uint32_t n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  const philox_block block = {{c0, c1, c2, c3}};
  return block;
}

/* Block number `index` of the stream of one node in one step.
   rng: {seed low, seed high, step low, step high, first sample, samples}. */
static inline philox_block philox_at(const uint32_t* rng, uint32_t stream, uint32_t index) {
  const uint32_t counter[4] = {index, stream, rng[2], rng[3]};
  const uint32_t key[2] = {rng[0], rng[1]};
  return philox(counter, key);
}

/* Where the first of n elements stands among those of the whole batch, of which they belong to the
   samples from the first of rng on. No samples: they are the whole. */
static inline uint64_t philox_first(const uint32_t* rng, int n) {
  return rng[5] == 0 ? 0 : (uint64_t)((uint32_t)n / rng[5]) * rng[4];
}

/* A word as a number in [0, 1) of 24 bits. */
static inline float philox_unit(uint32_t word) { return (float)(word >> 8) * 0x1p-24f; }

#endif
