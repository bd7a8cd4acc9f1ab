/* The mathematics of reference kernels (src/ops/families/math) on a board: a checksum of the bits
   of every function's results over the same inputs everywhere. */
#include "board.h"
#include "ops/families/math/math.h"

enum { INPUTS = 3000 };

/* Numbers of all sizes and signs, and the special ones first. */
static uint32_t state;
static uint32_t next_word(void) {
  state = state * 1664525u + 1013904223u;
  return state;
}

static float next_input(int i) {
  static const uint32_t special[] = {
      0,           0x80000000u, 0x3f800000u, 0xbf800000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 1,
      0x007fffffu, 0x7f7fffffu, 0x3f000000u, 0x40490fdbu, 0x4b000000u, 0xc2ce8ed0u, 0x42b17218u};
  const int specials = (int)(sizeof special / sizeof special[0]);
  const uint32_t word = next_word();
  if (i < specials * specials) return math_of_bits(special[i % specials]);
  if (i % 4 == 0) return math_of_bits(word);
  /* Mostly around 1, where functions do most. */
  return math_of_bits((word & 0x807fffffu) | (118 + (word >> 24) % 18) << 23);
}

static uint32_t hash_bits(uint32_t hash, uint32_t word) {
  for (int i = 0; i < 4; ++i, word >>= 8) hash = (hash ^ (word & 255)) * 16777619u;
  return hash;
}

/* NaN has many bits, of which the functions of exact.h keep those that they are given. */
static uint32_t result_bits(float y) { return math_is_nan(y) ? 0x7fc00000u : math_bits(y); }

#define CHECK_ONE(name)                                                \
  static uint32_t check_##name(void) {                                 \
    uint32_t hash = 2166136261u;                                       \
    state = 1;                                                         \
    for (int i = 0; i < INPUTS; ++i) {                                 \
      hash = hash_bits(hash, result_bits(math_##name(next_input(i)))); \
    }                                                                  \
    return hash;                                                       \
  }
#define CHECK_TWO(name)                                       \
  static uint32_t check_##name(void) {                        \
    uint32_t hash = 2166136261u;                              \
    uint32_t other = 7;                                       \
    for (int i = 0; i < INPUTS; ++i) {                        \
      state = (uint32_t)i * 2654435761u;                      \
      const float a = next_input(i);                          \
      state = other;                                          \
      const float b = next_input(i / 15);                     \
      other = next_word();                                    \
      hash = hash_bits(hash, result_bits(math_##name(a, b))); \
    }                                                         \
    return hash;                                              \
  }

/* clang-format off */
#define FUNCTIONS(one, two)                                                            \
  one(acos) one(acosh) one(asin) one(asinh) one(atan) one(atanh) one(ceil) one(cos)    \
  one(cosh) one(erf) one(erfc) one(exp) one(exp2) one(expm1) one(fabs) one(floor)      \
  one(log) one(log10) one(log1p) one(log2) one(rint) one(sin) one(sinh) one(sqrt)      \
  one(integer_sqrt) one(tan) one(tanh) one(trunc)                                      \
  two(atan2) two(fmax) two(fmin) two(fmod) two(pow)
/* clang-format on */
FUNCTIONS(CHECK_ONE, CHECK_TWO)

static uint32_t check_double(void) {
  uint32_t hash = 2166136261u;
  state = 3;
  for (int i = 0; i < INPUTS; ++i) {
    const double a = (double)math_fabs(next_input(i));
    const double b = (double)next_input(i / 15);
    const uint64_t root = math_double_bits(math_double_sqrt(a));
    const uint64_t power = math_double_bits(math_double_pow(a, b));
    hash = hash_bits(hash_bits(hash, (uint32_t)root), (uint32_t)(root >> 32));
    hash = hash_bits(hash_bits(hash, (uint32_t)power), (uint32_t)(power >> 32));
  }
  return hash;
}

int main(void) {
#define PRINT(name) board_print_number(#name, check_##name());
  FUNCTIONS(PRINT, PRINT)
  board_print_number("double", check_double());
  return 0;
}
