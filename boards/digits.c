/* A device that learns one person's digits, streamed from the files of MNIST's form that ./run
   demo-mcu writes. The model is one that thimble export-c wrote: image f32[1, 28, 28, 1], digit
   i32[1], logits. Each image is there once: learnt and forgotten. Prints what it recognises before
   and after. */
#include <stdio.h>

#include "board.h"
#include "thimble_model.h"

enum { PIXELS = 784, CLASSES = 10, TESTED = 200, IMAGE_HEAD = 16, LABEL_HEAD = 8 };

static uint64_t arena[THIMBLE_ARENA_BYTES / 8 + 1];
static uint64_t state[THIMBLE_STATE_BYTES / 8 + 1];
static uint8_t pixels[PIXELS];
static float image[PIXELS];

typedef struct stream {
  int images, labels;
} stream;

static int stream_open(stream* s, const char* images, const char* labels) {
  uint8_t head[IMAGE_HEAD];
  s->images = board_open(images, 0);
  s->labels = board_open(labels, 0);
  return s->images >= 0 && s->labels >= 0 &&
         board_read(s->images, head, IMAGE_HEAD) == IMAGE_HEAD &&
         board_read(s->labels, head, LABEL_HEAD) == LABEL_HEAD;
}

/* The next image and its digit; 0 at the end. */
static int stream_next(stream* s, int32_t* digit) {
  uint8_t label;
  if (board_read(s->images, pixels, PIXELS) != PIXELS || board_read(s->labels, &label, 1) != 1)
    return 0;
  for (int i = 0; i < PIXELS; ++i) image[i] = (float)pixels[i] / 255.0F;
  *digit = label;
  return 1;
}

static void stream_close(const stream* s) {
  board_close(s->images);
  board_close(s->labels);
}

/* How many of the first test images are recognised, or -1. */
static int recognised(thimble_model* model) {
  stream s;
  int32_t digit;
  int right = 0;
  if (!stream_open(&s, "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")) return -1;
  for (int i = 0; i < TESTED; ++i) {
    float logits[CLASSES];
    int best = 0;
    if (!stream_next(&s, &digit) || thimble_predict(model, image, logits) != THIMBLE_OK) return -1;
    for (int k = 1; k < CLASSES; ++k) best = logits[k] > logits[best] ? k : best;
    right += best == digit;
  }
  stream_close(&s);
  return right;
}

/* FNV-1a of the saved state, to compare boards. */
static int add_to_hash(void* user, const void* data, size_t bytes) {
  uint32_t* const hash = user;
  for (size_t i = 0; i < bytes; ++i) *hash = (*hash ^ ((const uint8_t*)data)[i]) * 16777619U;
  return 0;
}

int main(void) {
  thimble_model model;
  thimble_result result = {0};
  stream s;
  int32_t digit;
  int learnt = 0, right = 0;
  uint32_t hash = 2166136261U;
  if (thimble_init(&model, arena, sizeof arena, state, sizeof state) != THIMBLE_OK) return 1;
  const int before = recognised(&model);
  if (before < 0 || !stream_open(&s, "train-images-idx3-ubyte", "train-labels-idx1-ubyte"))
    return 2;
  board_print_number("tested", TESTED);
  board_print_number("recognised_before", (uint64_t)before);
  for (; stream_next(&s, &digit); ++learnt) {
    if (thimble_train_step(&model, image, &digit, 0.01F, &result) != THIMBLE_OK) return 3;
    right += result.accuracy > 0.5F;
    if (learnt % 25 == 24) {
      board_print_number("recognised_of_25", (uint64_t)right);
      right = 0;
    }
  }
  stream_close(&s);
  board_print_number("learnt", (uint64_t)learnt);
  const int after = recognised(&model);
  if (after < 0) return 4;
  board_print_number("recognised_after", (uint64_t)after);
  if (thimble_save(&model, add_to_hash, &hash) != THIMBLE_OK) return 5;
  board_print_number("weights_checksum", hash);
  board_print_number("arena_bytes", THIMBLE_ARENA_BYTES);
  board_print_number("state_bytes", THIMBLE_STATE_BYTES);
  return after > before ? 0 : 6;
}
