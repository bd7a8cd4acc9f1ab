/* Trains with thimble-micro from the files of a folder, for the tests:
   driver FOLDER MODEL INPUT SAMPLES STEPS RATE OPTIMIZER BATCH OTHER_OPTIMIZER
   SAMPLES holds, for each sample, its input and then its label. Prints every loss as the number of
   its bits; writes FOLDER/trained.wof, and FOLDER/checkpoint.bin of the state in the middle, from
   which a second run has to end with the same loss. Then sweeps settings over the same samples:
   improved weights are kept, others are not. */
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

typedef struct sweep_samples {
  const unsigned char* data;
  size_t input_bytes, label_bytes;
} sweep_samples;

static int sample(void* user, int is_test, uint32_t index, const char* name, void* to,
                  size_t size) {
  const sweep_samples* s = user;
  const int is_label = strcmp(name, "digit") == 0;
  (void)is_test;
  if (size != (is_label ? s->label_bytes : s->input_bytes)) return 1;
  memcpy(to, s->data + index * (s->input_bytes + s->label_bytes) + (is_label ? s->input_bytes : 0),
         size);
  return 0;
}

/* A wof file in memory. */
typedef struct kept_weights {
  bytes file;
  size_t written;
  int commits;
} kept_weights;

static int keep_begin(void* user) {
  ((kept_weights*)user)->written = 0;
  return 0;
}
static int keep_write(void* user, const void* data, size_t size) {
  kept_weights* kept = user;
  if (size > kept->file.size - kept->written) return 1;
  memcpy(kept->file.data + kept->written, data, size);
  kept->written += size;
  return 0;
}
static int keep_commit(void* user) {
  ++((kept_weights*)user)->commits;
  return 0;
}

/* Whether a sweep keeps what is better, and nothing else. */
static int sweep(thimble_micro* m, const thimble_micro_files* files, const bytes* samples,
                 void* memory, size_t memory_bytes, float rate) {
  sweep_samples all = {samples->data, 0, 0};
  thimble_micro_input(m, THIMBLE_MICRO_TRAIN, input_name, &all.input_bytes);
  thimble_micro_input(m, THIMBLE_MICRO_TRAIN, "digit", &all.label_bytes);
  const uint32_t count = (uint32_t)(samples->size / (all.input_bytes + all.label_bytes));
  const thimble_micro_data data = {&all, count, count, sample};
  kept_weights kept = {{malloc(files->weights_bytes), files->weights_bytes}, 0, 0};
  const thimble_micro_store store = {&kept, keep_begin, keep_write, keep_commit};
  const thimble_micro_setting still = {NULL, 0, 0.0F, 2, 0, {NULL}, {0}};
  const thimble_micro_setting moves[] = {still, {NULL, 0, rate, 3, 0, {NULL}, {0}}};
  thimble_micro_report report;
  float score = 0;
  check(thimble_micro_sweep(m, &data, &still, 1, NULL, &store, &report), m, "sweep");
  if (report.setting != -1 || kept.commits != 0) return 80;
  check(thimble_micro_sweep(m, &data, moves, 2, NULL, &store, &report), m, "sweep");
  if (report.setting != 1 || kept.commits < 1 || kept.written != kept.file.size) return 81;
  if (!(report.score > report.score_before)) return 82;
  thimble_micro_files improved = *files;
  improved.weights = kept.file.data;
  check(thimble_micro_open(m, &improved, memory, memory_bytes), m, "open improved");
  check(thimble_micro_evaluate(m, &data, NULL, NULL, &score), m, "evaluate");
  return score == report.score ? 0 : 83;
}

int main(int argc, char** argv) {
  if (argc < 10) return 2;
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
  const thimble_micro_status too_small = thimble_micro_open(&m, &files, memory, memory_bytes - 1);
  if (too_small != THIMBLE_MICRO_NO_MEMORY) {
    check(too_small, &m, "open");
    return 94;
  }
  thimble_micro_reset(&m); /* of one that is not open: does nothing */
  if (thimble_micro_batch(&m, THIMBLE_MICRO_TRAIN) != 0 ||
      thimble_micro_step(&m, rate, NULL) != THIMBLE_MICRO_BAD_ARGUMENT) {
    return 97;
  }
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
  /* Optimizer and constants are those of the checkpoint, whatever was chosen since. */
  static const char* const constants[] = {"momentum", "beta1", "alpha"};
  for (int i = 0; i < 3; ++i) thimble_micro_set_constant(&m, constants[i], 0.5);
  check(thimble_micro_choose(&m, argv[9], (uint32_t)atoi(argv[8])), &m, "choose another");
  check(thimble_micro_read_checkpoint(&m, checkpoint.data, checkpoint.size), &m, "checkpoint");
  if (train(&m, &samples, steps / 2, steps, rate, 0) != last) return 96;
  return sweep(&m, &files, &samples, memory, memory_bytes, rate);
}
