/* thimble-micro: trains a model on a device from the files of `thimble configure`, without heap and
   without an operating system. C99.

   Three files lie in memory, for example in flash: the model without its trained weights (circle or
   TensorFlow Lite), these weights (wof), and the program, which holds the training steps as lists
   of kernels. All are checked before anything runs; what is damaged or made by someone else is
   refused. A program that does not fit the memory, or asks for a kernel that is not linked in, is
   refused.

   Thread safety: a thimble_micro may be used by one thread at a time. */
#ifndef THIMBLE_MICRO_H
#define THIMBLE_MICRO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum thimble_micro_status {
  THIMBLE_MICRO_OK = 0,
  THIMBLE_MICRO_BAD_ARGUMENT = 1,   /* a null pointer, memory that is not aligned to 8 bytes */
  THIMBLE_MICRO_NO_MEMORY = 2,      /* less memory than thimble_micro_memory_bytes says */
  THIMBLE_MICRO_BAD_PROGRAM = 3,    /* the program is damaged, or of another version */
  THIMBLE_MICRO_BAD_MODEL = 4,      /* the model is not the one that the program was made for */
  THIMBLE_MICRO_BAD_WEIGHTS = 5,    /* the weights are damaged, or of another model */
  THIMBLE_MICRO_NO_KERNEL = 6,      /* a kernel of the program is not linked in */
  THIMBLE_MICRO_NOT_FOUND = 7,      /* there is no such optimizer, batch, constant, or result */
  THIMBLE_MICRO_NOT_FINITE = 8,     /* the loss is not a finite number; no weight was changed */
  THIMBLE_MICRO_DATA_FAILED = 9,    /* the callback that gives samples reported a failure */
  THIMBLE_MICRO_WRITE_FAILED = 10,  /* the callback that writes did */
  THIMBLE_MICRO_BAD_CHECKPOINT = 11 /* the checkpoint is damaged, or of another program */
} thimble_micro_status;

/* Files in memory. They must stay there, aligned to 8 bytes. */
typedef struct thimble_micro_files {
  const void* model;
  size_t model_bytes;
  const void* weights;
  size_t weights_bytes;
  const void* program;
  size_t program_bytes;
} thimble_micro_files;

enum { THIMBLE_MICRO_KERNELS = 64, THIMBLE_MICRO_CONSTANTS = 8, THIMBLE_MICRO_MISSING = 80 };

/* Set by thimble_micro_open. Fields may be read; only `seed` may be changed. */
typedef struct thimble_micro {
  thimble_micro_files files;
  unsigned char* arena;
  unsigned char* state;
  uint32_t training; /* numbers of the chosen programs */
  uint32_t evaluation;
  uint32_t prediction;
  uint32_t step; /* training steps done */
  uint64_t seed; /* of random numbers */
  uint16_t kernels[THIMBLE_MICRO_KERNELS];
  double constants[THIMBLE_MICRO_CONSTANTS]; /* of optimizers */
  char missing[THIMBLE_MICRO_MISSING];       /* after NO_KERNEL: its name */
} thimble_micro;

/* Bytes of memory that a program needs: its arena, and trained weights with the optimizer's state.
   0 where it is no program. */
size_t thimble_micro_memory_bytes(const void* program, size_t program_bytes);

/* Checks all files and sets the weights to those of the file. memory: used until the last call. How
   long a program runs is not checked: a watchdog should end one that comes from strangers. */
thimble_micro_status thimble_micro_open(thimble_micro* m, const thimble_micro_files* files,
                                        void* memory, size_t memory_bytes);

/* Takes another optimizer or batch size, of those that the program was made for. Weights stay; an
   optimizer's state is cleared where it is another one than before. optimizer: NULL for the one of
   before. */
thimble_micro_status thimble_micro_choose(thimble_micro* m, const char* optimizer, uint32_t batch);
/* Sets weights and states to those of the files, and the step to 0. */
void thimble_micro_reset(thimble_micro* m);
/* Sets a constant of the optimizer, for example "momentum" or "beta1". Those that the program was
   made without (0) cannot be set. */
thimble_micro_status thimble_micro_set_constant(thimble_micro* m, const char* name, double value);

/* Where a program reads a model's inputs and labels. */
enum { THIMBLE_MICRO_TRAIN = 0, THIMBLE_MICRO_EVALUATE = 1, THIMBLE_MICRO_PREDICT = 2 };
uint32_t thimble_micro_batch(const thimble_micro* m, int program);
/* The memory of an input or label for a whole batch, and the bytes of one sample of it; NULL where
   there is none of that name. To be filled before every run: a run uses the memory for more. */
void* thimble_micro_input(thimble_micro* m, int program, const char* name, size_t* sample_bytes);
/* One training step on the inputs. loss: before the update; may be NULL. */
thimble_micro_status thimble_micro_step(thimble_micro* m, float learning_rate, float* loss);
/* Runs the evaluation or the prediction on the inputs. */
thimble_micro_status thimble_micro_run(thimble_micro* m, int program);
/* A result of the last run: "loss", a metric, or an output; NULL where there is none. */
const float* thimble_micro_result(const thimble_micro* m, int program, const char* name,
                                  size_t* bytes);

/* Samples. sample: writes input or label `name` of a sample to `to`; returns 0, or another number
   on failure. */
typedef struct thimble_micro_data {
  void* user;
  uint32_t train_samples;
  uint32_t test_samples;
  int (*sample)(void* user, int is_test, uint32_t index, const char* name, void* to, size_t bytes);
} thimble_micro_data;

/* Means over the test samples. metric: one that is better when it is higher, such as "accuracy";
   NULL: the loss alone is asked for, and the score is its negative. */
thimble_micro_status thimble_micro_evaluate(thimble_micro* m, const thimble_micro_data* data,
                                            const char* metric, float* loss, float* score);

/* Where improved weights go. begin and commit may be NULL; all return 0, or another number on
   failure. */
typedef struct thimble_micro_store {
  void* user;
  int (*begin)(void* user);
  int (*write)(void* user, const void* data, size_t bytes);
  int (*commit)(void* user);
} thimble_micro_store;

/* How to train. Constants that are not named keep the values that they have. */
typedef struct thimble_micro_setting {
  const char* optimizer; /* NULL: the one that was chosen before */
  uint32_t batch;        /* 0: the one that was chosen before */
  float learning_rate;
  uint32_t epochs;
  uint32_t constant_count;
  const char* constant_names[THIMBLE_MICRO_CONSTANTS];
  double constants[THIMBLE_MICRO_CONSTANTS];
} thimble_micro_setting;

typedef struct thimble_micro_report {
  float score_before; /* of the weights of the file */
  float score;        /* of the best */
  float loss;         /* mean of the last epoch's steps */
  int32_t setting;    /* that gave the best score; -1: none was better, and nothing was written */
  uint32_t epoch;     /* of it, from 0 */
} thimble_micro_report;

/* Trains by every setting from the weights of the file, an epoch after the other, and evaluates
   after each. Weights go to the store where their score is above all before, the file's included:
   what the store then holds is the best. A last batch that is not full is left out. A setting whose
   loss is not finite ends, and the next one begins. */
thimble_micro_status thimble_micro_sweep(thimble_micro* m, const thimble_micro_data* data,
                                         const thimble_micro_setting* settings, uint32_t count,
                                         const char* metric, const thimble_micro_store* store,
                                         thimble_micro_report* report);

/* Writes the weights as they are now, as a wof file of the layout of the one that was opened. */
thimble_micro_status thimble_micro_write_weights(const thimble_micro* m,
                                                 const thimble_micro_store* store);
/* Writes weights, the optimizer's state, seed and step, and the chosen optimizer, batch size and
   constants, so that training goes on later with the same bits. It is no wof file. */
thimble_micro_status thimble_micro_write_checkpoint(const thimble_micro* m,
                                                    const thimble_micro_store* store);
/* Reads a checkpoint; where it is refused, nothing changes. */
thimble_micro_status thimble_micro_read_checkpoint(thimble_micro* m, const void* data,
                                                   size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
