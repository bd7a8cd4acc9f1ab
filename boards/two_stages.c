/* A device that trains a digit classifier by thimble-micro from the files of thimble configure, on
   digits that are streamed from files of MNIST's form. The three files lie in flash. Improved
   weights go to improved.wof. Prints what the device recognises before and after. */
#include <stdio.h>
#include <string.h>

#include "board.h"
#include "thimble_micro.h"

enum {
  PIXELS = 784,
  IMAGE_HEAD = 16,
  LABEL_HEAD = 8,
  TRAINED = 100,
  TESTED = 100,
  /* The runtime's own structure, the stack and images take the rest of 64 KiB. */
  MEMORY = 60 * 1024 - 512
};

/* The files, found in the folder of the sources. */
#define FILE_IN_FLASH(name, file)                                                         \
  extern const unsigned char name##_begin[], name##_end[];                                \
  __asm__(".section .rodata." #name ",\"a\"\n.balign 16\n.global " #name "_begin\n" #name \
          "_begin:\n"                                                                     \
          ".incbin \"" file "\"\n.global " #name "_end\n" #name "_end:\n.byte 0\n.text\n")
FILE_IN_FLASH(model, "model.circle");
FILE_IN_FLASH(weights, "weights.wof");
FILE_IN_FLASH(program, "program.bin");

static uint64_t memory[MEMORY / 8];

/* A file that is read from its beginning on. */
typedef struct stream {
  const char* path;
  size_t head;
  int file;
} stream;
static stream images[2] = {{"train-images-idx3-ubyte", IMAGE_HEAD, -1},
                           {"t10k-images-idx3-ubyte", IMAGE_HEAD, -1}};
static stream labels[2] = {{"train-labels-idx1-ubyte", LABEL_HEAD, -1},
                           {"t10k-labels-idx1-ubyte", LABEL_HEAD, -1}};

static int stream_read(stream* s, uint32_t index, void* to, size_t bytes) {
  uint8_t head[IMAGE_HEAD];
  if (index == 0) {
    if (s->file >= 0) board_close(s->file);
    s->file = board_open(s->path, 0);
    if (s->file < 0 || board_read(s->file, head, s->head) != s->head) return 1;
  }
  return board_read(s->file, to, bytes) == bytes ? 0 : 1;
}

static int sample(void* user, int is_test, uint32_t index, const char* name, void* to,
                  size_t bytes) {
  (void)user;
  if (strcmp(name, "digit") == 0) {
    uint8_t digit;
    if (bytes != sizeof(int32_t) || stream_read(&labels[is_test], index, &digit, 1) != 0) return 1;
    *(int32_t*)to = digit;
    return 0;
  }
  static uint8_t pixels[PIXELS];
  if (bytes != PIXELS * sizeof(float)) return 1;
  if (stream_read(&images[is_test], index, pixels, PIXELS) != 0) return 1;
  for (int i = 0; i < PIXELS; ++i) ((float*)to)[i] = (float)pixels[i] / 255.0F;
  return 0;
}

static int improved;
static int store_begin(void* user) {
  (void)user;
  improved = board_open("improved.wof", 1);
  return improved < 0;
}
static int store_write(void* user, const void* data, size_t bytes) {
  (void)user;
  return board_write(improved, data, bytes) == bytes ? 0 : 1;
}
static int store_commit(void* user) {
  (void)user;
  board_close(improved);
  return 0;
}

int main(void) {
  static thimble_micro m;
  const thimble_micro_files files = {model_begin,   (size_t)(model_end - model_begin),
                                     weights_begin, (size_t)(weights_end - weights_begin),
                                     program_begin, (size_t)(program_end - program_begin)};
  const thimble_micro_data data = {NULL, TRAINED, TESTED, sample};
  const thimble_micro_store store = {NULL, store_begin, store_write, store_commit};
  const uint32_t batch = 0;
  const thimble_micro_setting settings[] = {
      {NULL, batch, 0.005F, 1, 0, {NULL}, {0}},
      {NULL, batch, 0.01F, 2, 0, {NULL}, {0}},
  };
  thimble_micro_report report;
  thimble_micro_status status = thimble_micro_open(&m, &files, memory, sizeof memory);
  if (status == THIMBLE_MICRO_OK) {
    status = thimble_micro_sweep(&m, &data, settings, 2, "accuracy", &store, &report);
  }
  if (status != THIMBLE_MICRO_OK) {
    board_print_number("status", (uint64_t)status);
    return (int)status;
  }
  board_print_number("file_bytes", files.model_bytes + files.weights_bytes + files.program_bytes);
  board_print_number("memory_bytes",
                     thimble_micro_memory_bytes(files.program, files.program_bytes) + sizeof m);
  board_print_number("tested", TESTED);
  board_print_number("recognised_before", (uint64_t)(report.score_before * TESTED + 0.5F));
  board_print_number("recognised_after", (uint64_t)(report.score * TESTED + 0.5F));
  board_print_number("best_setting", (uint64_t)(report.setting + 1));
  return report.setting >= 0 ? 0 : 20;
}
