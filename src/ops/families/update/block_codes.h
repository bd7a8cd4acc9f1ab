/* Numbers as one byte each, in blocks that share a scale. Plain C99; also C++.
   Source: Dettmers et al., "8-bit optimizers via block-wise quantization", 2022: dynamic tree
   quantization, whose codes are close together near 0. A block's scale is its largest magnitude;
   what follows is about numbers divided by it, in [-1, 1] or [0, 1]. */
#ifndef THIMBLE_OPS_COMMON_BLOCK_CODES_H_
#define THIMBLE_OPS_COMMON_BLOCK_CODES_H_

#define BLOCK_ELEMENTS 256
#define BLOCK_LEVELS 7 /* decades */

/* A place in a decade from its 0.1 to its 1, as a share of the way. */
#define BLOCK_STRETCH (1.0F / 0.9F)
#define BLOCK_START (1.0F / 9.0F)
#define BLOCK_LAST 0.998F /* within the last code of every decade */

/* Code 0 means 0. With signs, codes from 1 on, and without signs codes plus 1 from 2 on, are
   numbers with a leading bit e and a rest: e says the decade, from 10^-6 to 10^-7 at the lowest,
   and the rest the place in it, each decade with twice as many codes as the one below. One code
   more means 1. With signs, 256 - c stands for the negative of c; -1 has none. */
typedef struct block_book {
  float value[256];              /* of each code */
  float shift;                   /* added to a code: 0 with signs, 1 without */
  float lowest;                  /* 10^-6 over 10^e of the lowest decade */
  float top;                     /* codes of the highest decade */
  float one;                     /* the code of 1 */
  float threshold[BLOCK_LEVELS]; /* below it a number belongs to a lower decade; highest first */
  float smallest;                /* below it a number becomes 0 */
  float largest;                 /* from it on a number becomes 1 */
} block_book;

/* The magnitude of a code between those of 0 and 1. */
static inline float block_code_value(const block_book* book, int code) {
  float place = (float)code + book->shift + 0.5F;
  float decade = book->lowest;
  if (place >= 16.0F) {
    place *= 0.0625F;
    decade *= 1e4F;
  }
  if (place >= 4.0F) {
    place *= 0.25F;
    decade *= 1e2F;
  }
  if (place >= 2.0F) {
    place *= 0.5F;
    decade *= 10.0F;
  }
  return decade * (0.1F + 0.9F * (place - 1.0F));
}

/* All but the values. A number above 0 never becomes 0 where there are no signs: a second moment of
   0 would make the step that it divides too large. */
static inline void block_book_limits(block_book* book, int has_sign) {
  const int one = has_sign ? 128 : 255;
  int first = one; /* code of a decade */
  book->shift = has_sign ? 0.0F : 1.0F;
  book->lowest = has_sign ? 1e-6F : 1e-7F;
  book->top = has_sign ? 64.0F : 128.0F;
  book->one = (float)one;
  for (int level = 0, codes = (int)book->top; level < BLOCK_LEVELS; ++level, codes /= 2) {
    float below = 0.0F;
    first -= codes;
    if (first > 1) below = block_code_value(book, first - 1);
    book->threshold[level] = 0.5F * (block_code_value(book, first) + below);
  }
  book->smallest = has_sign ? book->threshold[BLOCK_LEVELS - 1] : 1e-38F;
  book->threshold[BLOCK_LEVELS - 1] = 0.0F; /* nothing is lower than the lowest */
  book->largest = 0.5F * (block_code_value(book, one - 1) + 1.0F);
}

static inline void block_book_fill(block_book* book, int has_sign) {
  int one;
  block_book_limits(book, has_sign);
  one = (int)book->one;
  for (int code = 0; code < 256; ++code) {
    const int size = code > one ? 256 - code : code;
    const float value = size == 0 ? 0.0F : size == one ? 1.0F : block_code_value(book, size);
    book->value[code] = code > one ? -value : value;
  }
}

/* The nearest code of a number; NaN becomes 0. */
static inline int block_encode(const block_book* book, float x, int has_sign) {
  const float* threshold = book->threshold;
  const float size = x < 0.0F ? -x : x;
  const int four = size < threshold[3];
  const int two = size < threshold[four ? 5 : 1];
  const int more = size < threshold[(four ? 4 : 0) + (two ? 2 : 0)];
  float codes = book->top;
  float place = size;
  int code;
  if (!(size >= book->smallest)) return 0;
  if (x >= book->largest) return (int)book->one;
  if (four) {
    place *= 1e4F;
    codes *= 0.0625F;
  }
  if (two) {
    place *= 1e2F;
    codes *= 0.25F;
  }
  if (more) {
    place *= 10.0F;
    codes *= 0.5F;
  }
  place = place * BLOCK_STRETCH - BLOCK_START;
  if (place > BLOCK_LAST) place = BLOCK_LAST;
  if (place < 0.0F) place = 0.0F;
  code = (int)(codes + codes * place - book->shift);
  return has_sign && x < 0.0F ? (256 - code) % 256 : code;
}

#endif
