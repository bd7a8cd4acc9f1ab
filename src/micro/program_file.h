/* The program file of thimble-micro, version 1. Numbers are little endian. All tables are aligned
   to 8 bytes; offsets count from the beginning of the file. C99. */
#ifndef THIMBLE_MICRO_PROGRAM_FILE_H
#define THIMBLE_MICRO_PROGRAM_FILE_H

#include <stdint.h>

enum {
  MICRO_MAGIC = 0x314d4854,            /* "THM1" */
  MICRO_VERSION = 2,                   /* of the program */
  MICRO_CHECKPOINT_MAGIC = 0x434d4854, /* "THMC" */
  MICRO_WEIGHTS_MAGIC = 0x574d4854,    /* "THMW", of the end of a wof file */
  MICRO_WOF_MAGIC = 429,
  MICRO_CHECKED_FROM = 16 /* where the bytes of the program's checksum begin */
};
#define MICRO_NONE 0xffffffffU

/* Entries of a table. */
typedef struct micro_table {
  uint32_t offset, count;
} micro_table;

typedef struct micro_header {
  uint32_t magic, version;
  uint32_t bytes; /* of the file */
  uint32_t crc;   /* CRC-32 of all bytes from MICRO_CHECKED_FROM on */
  uint32_t model_bytes, model_crc;
  uint32_t tensors;   /* of the model: buffers of a wof file */
  uint32_t structure; /* CRC-32 of the model's structure, as in a wof file */
  uint32_t arena_bytes, state_bytes;
  micro_table kernels, stored, sources, constants, optimizers, programs, calls, arguments, patches,
      bindings, results;
} micro_header;

typedef struct micro_kernel_entry {
  char name[80];
  uint32_t params_bytes;
  uint32_t unused;
} micro_kernel_entry;

/* Parameters and states. */
enum { MICRO_ZEROS = 0, MICRO_WOF = 1, MICRO_MODEL = 2, MICRO_PROGRAM = 3 };
typedef struct micro_stored {
  uint32_t from;   /* where its first contents are */
  uint32_t source; /* the tensor of a wof file, or the offset in the model or the program */
  uint32_t bytes;
  uint32_t at;        /* in the state; MICRO_NONE: it is read where it is */
  uint32_t optimizer; /* whose state it is; MICRO_NONE: of all */
  uint32_t a, b, c;   /* above 0: it is [a, b, c] here and [c, b, a] in the wof file */
} micro_stored;

enum { MICRO_INPUT = 0, MICRO_LABEL = 1, MICRO_RATE = 2, MICRO_UPDATE = 3, MICRO_RANDOM = 4 };
typedef struct micro_source {
  char name[40];
  uint32_t kind;
  uint32_t sample_bytes;
} micro_source;

typedef struct micro_constant {
  char name[24];
  double value;
} micro_constant;

typedef struct micro_optimizer {
  char name[32];
} micro_optimizer;

/* Calls, bindings and results of a program stand behind those of the program before it. */
typedef struct micro_program {
  uint32_t kind, optimizer, batch; /* optimizer: MICRO_NONE where it does not train */
  uint32_t first_call, calls;
  uint32_t loss_calls; /* after so many calls the loss is known */
  uint32_t first_binding, bindings;
  uint32_t first_result, results;
  uint32_t unused[2];
} micro_program;

typedef struct micro_call {
  uint32_t kernel;
  uint32_t params; /* offset */
  uint32_t first_argument, outputs, inputs;
  uint32_t first_patch, patches;
  uint32_t unused;
} micro_call;

enum { MICRO_NOWHERE = 0, MICRO_ARENA = 1, MICRO_STORED = 2, MICRO_CONSTANT = 3 };
typedef struct micro_argument {
  uint32_t place;
  uint32_t at; /* offset in the arena or the file, or number of the stored value */
  uint32_t bytes;
} micro_argument;

/* A constant of an optimizer within the parameters of a call: a double. */
typedef struct micro_patch {
  uint32_t constant;
  uint32_t offset;
} micro_patch;

/* Where a source lies in the arena. */
typedef struct micro_binding {
  uint32_t source;
  uint32_t at;
  uint32_t bytes;
  uint32_t unused;
} micro_binding;

typedef struct micro_result {
  char name[36];
  micro_argument value;
} micro_result;

#endif
