/* Trains with thimble-micro from the files of a folder, for the tests:
   driver FOLDER MODEL INPUT SAMPLES STEPS RATE OPTIMIZER BATCH
   SAMPLES holds, for each sample, its input and then its label. Prints every loss as the number of
   its bits; writes FOLDER/trained.wof, and FOLDER/checkpoint.bin of the state in the middle, from
   which a second run has to end with the same weights. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thimble_micro.h"

typedef struct bytes {
  unsigned char* data;
  size_t size;
} bytes;

static bytes read_file(const char* folder, const char* name) {
  char path[4096];
  bytes b = {NULL, 0};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* file = fopen(path, "rb");
  if (file == NULL) exit(90);
  fseek(file, 0, SEEK_END);
  b.size = (size_t)ftell(file);
  rewind(file);
  b.data = malloc(b.size + 8);
  if (b.data == NULL || fread(b.data, 1, b.size, file) != b.size) exit(91);
  fclose(file);
  return b;
}

static int write_bytes(void* user, const void* data, size_t size) {
  return fwrite(data, 1, size, (FILE*)user) == size ? 0 : 1;
}

static void check(thimble_micro_status status, const thimble_micro* m, const char* what) {
  if (status == THIMBLE_MICRO_OK) return;
  printf("%s: status %d %s\n", what, (int)status, m->missing);
  exit(1);
}

static void save(const thimble_micro* m, const char* folder, const char* name, int checkpoint) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* file = fopen(path, "wb");
  if (file == NULL) exit(92);
  const thimble_micro_store store = {file, NULL, write_bytes, NULL};
  check(checkpoint ? thimble_micro_write_checkpoint(m, &store)
                   : thimble_micro_write_weights(m, &store),
        m, name);
  fclose(file);
}

static const char* input_name;

static float train(thimble_micro* m, const bytes* samples, int first, int last, float rate,
                   int prints) {
  float loss = 0;
  size_t input_bytes = 0, label_bytes = 0;
  unsigned char* input = thimble_micro_input(m, THIMBLE_MICRO_TRAIN, input_name, &input_bytes);
  unsigned char* label = thimble_micro_input(m, THIMBLE_MICRO_TRAIN, "digit", &label_bytes);
  const uint32_t batch = thimble_micro_batch(m, THIMBLE_MICRO_TRAIN);
  const size_t each = input_bytes + label_bytes;
  if (input == NULL || label == NULL) exit(93);
  for (int step = first; step < last; ++step) {
    for (uint32_t i = 0; i < batch; ++i) {
      const size_t n = ((size_t)step * batch + i) % (samples->size / each);
      memcpy(input + i * input_bytes, samples->data + n * each, input_bytes);
      memcpy(label + i * label_bytes, samples->data + n * each + input_bytes, label_bytes);
    }
    check(thimble_micro_step(m, rate, &loss), m, "step");
    uint32_t bits;
    memcpy(&bits, &loss, sizeof bits);
    if (prints) printf("%u\n", bits);
  }
  return loss;
}

int main(int argc, char** argv) {
  if (argc < 9) return 2;
  input_name = argv[3];
  const bytes model = read_file(argv[1], argv[2]);
  const bytes weights = read_file(argv[1], "weights.wof");
  const bytes program = read_file(argv[1], "program.bin");
  const bytes samples = read_file(argv[1], argv[4]);
  const int steps = atoi(argv[5]);
  const float rate = (float)atof(argv[6]);
  const thimble_micro_files files = {model.data,   model.size,   weights.data,
                                     weights.size, program.data, program.size};
  const size_t memory_bytes = thimble_micro_memory_bytes(program.data, program.size);
  void* memory = malloc(memory_bytes);
  thimble_micro m;
  if (thimble_micro_open(&m, &files, memory, memory_bytes - 1) != THIMBLE_MICRO_NO_MEMORY)
    return 94;
  check(thimble_micro_open(&m, &files, memory, memory_bytes), &m, "open");
  check(thimble_micro_choose(&m, argv[7], (uint32_t)atoi(argv[8])), &m, "choose");
  train(&m, &samples, 0, steps / 2, rate, 1);
  save(&m, argv[1], "checkpoint.bin", 1);
  const float last = train(&m, &samples, steps / 2, steps, rate, 1);
  save(&m, argv[1], "trained.wof", 0);

  const bytes checkpoint = read_file(argv[1], "checkpoint.bin");
  thimble_micro_reset(&m);
  checkpoint.data[40] ^= 1;
  if (thimble_micro_read_checkpoint(&m, checkpoint.data, checkpoint.size) !=
      THIMBLE_MICRO_BAD_CHECKPOINT) {
    return 95;
  }
  checkpoint.data[40] ^= 1;
  check(thimble_micro_read_checkpoint(&m, checkpoint.data, checkpoint.size), &m, "checkpoint");
  return train(&m, &samples, steps / 2, steps, rate, 0) == last ? 0 : 96;
}
