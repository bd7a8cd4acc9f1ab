/* Numbers as one byte each, in blocks that share a scale. Plain C99; also C++.
   Source: Dettmers et al., "8-bit optimizers via block-wise quantization", 2022: dynamic tree
   quantization, whose codes are close together near 0. A block's scale is its largest magnitude;
   what follows is about numbers divided by it, in [-1, 1] or [0, 1]. */
#ifndef THIMBLE_OPS_COMMON_BLOCK_CODES_H_
#define THIMBLE_OPS_COMMON_BLOCK_CODES_H_

#define BLOCK_ELEMENTS 256
#define BLOCK_LEVELS 9

/* Level 0 is the number 0, level 8 the number 1. Level k between covers the decade from 10^(k-8) to
   10^(k-7) with 2^(k-1) codes at equal distances, twice as many without signs. Code 0 means 0.
   With signs, code c stands for the positive number c, 256 - c for its negative; -1 has none. */
typedef struct block_book {
  float value[256];              /* of each code */
  float threshold[BLOCK_LEVELS]; /* smallest magnitude of a level */
  float codes[BLOCK_LEVELS];     /* in a level; its first code is codes - unsigned_by */
  float inverse[BLOCK_LEVELS]; /* of a level's width: its decade times 0.9; 0 for single numbers */
  float unsigned_by;           /* 1 without signs, else 0 */
} block_book;

/* A magnitude's place among the codes of its level is codes * (inverse * x - BLOCK_START). */
#define BLOCK_START (1.0F / 9.0F)

/* The number of a code without sign. count: codes of the lowest decade. */
static inline double block_code_value(int code, int count) {
  int level_codes = count;
  double decade = 1e-6;
  int first = 1;
  if (code == 0) return 0.0;
  while (first + level_codes <= code) {
    first += level_codes;
    level_codes *= 2;
    decade *= 10.0;
  }
  return decade > 5.0 ? 1.0 : decade * (0.1 + 0.9 * (code - first + 0.5) / level_codes);
}

/* A number above 0 never becomes 0 where there are no signs: a second moment of 0 would make the
   step that it divides too large. */
static inline void block_book_fill(block_book* book, int has_sign) {
  const int count = has_sign ? 1 : 2;
  double decade = 1e-6;
  int first = 1;
  for (int code = 0; code < 256; ++code) {
    book->value[code] = (float)(has_sign && code > 128 ? -block_code_value(256 - code, count)
                                                       : block_code_value(code, count));
  }
  book->unsigned_by = has_sign ? 0.0F : 1.0F;
  book->threshold[0] = book->inverse[0] = 0.0F;
  book->codes[0] = book->unsigned_by;
  for (int level = 1, codes = count; level < BLOCK_LEVELS; ++level) {
    const double below = block_code_value(first - 1, count);
    book->threshold[level] = (float)((below + block_code_value(first, count)) / 2.0);
    book->codes[level] = (float)codes;
    book->inverse[level] = level == BLOCK_LEVELS - 1 ? 0.0F : (float)(1.0 / (0.9 * decade));
    first += codes;
    codes *= 2;
    decade *= 10.0;
  }
  if (!has_sign) book->threshold[1] = 1e-38F;
}

/* The nearest code of a number; NaN becomes 0. */
static inline int block_encode(const block_book* book, float x, int has_sign) {
  const float size = x < 0.0F ? -x : x;
  int level = 0;
  float place;
  int code;
  while (level + 1 < BLOCK_LEVELS && size >= book->threshold[level + 1]) ++level;
  place = book->codes[level] * (book->inverse[level] * size - BLOCK_START);
  if (place > book->codes[level] - 1.0F) place = book->codes[level] - 1.0F;
  if (!(place > 0.0F)) place = 0.0F;
  code = (int)(book->codes[level] - book->unsigned_by) + (int)place;
  if (!has_sign || x >= 0.0F || code == 0) return code;
  return 256 - (code > 127 ? 127 : code);
}

#endif
