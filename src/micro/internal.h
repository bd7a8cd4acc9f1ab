/* What the files of thimble-micro share. C99. */
#ifndef THIMBLE_MICRO_INTERNAL_H
#define THIMBLE_MICRO_INTERNAL_H

#include "micro/kernel_table.h"
#include "micro/program_file.h"
#include "micro/thimble_micro.h"

enum { MICRO_WOF_HEADER = 8, MICRO_WOF_END = 16, MICRO_PARAMS = 256 };

uint32_t micro_crc32(uint32_t crc, const unsigned char* data, size_t bytes);
uint32_t micro_u32(const unsigned char* from);
void micro_put_u32(unsigned char* to, uint32_t number);
int micro_is_name(const char* name, const char* wanted);

static inline const micro_header* micro_program_header(const thimble_micro* m) {
  return (const micro_header*)m->files.program;
}
/* The first entry of a table. */
#define MICRO_TABLE(type, m, table)                                      \
  ((const type*)(const void*)((const unsigned char*)(m)->files.program + \
                              micro_program_header(m)->table.offset))

static inline const micro_program* micro_program_at(const thimble_micro* m, uint32_t i) {
  return MICRO_TABLE(micro_program, m, programs) + i;
}
/* Of a kind, THIMBLE_MICRO_TRAIN and so on: the chosen one; NULL where there is none, or m was not
   opened. */
const micro_program* micro_chosen(const thimble_micro* m, int kind);
uint32_t micro_optimizer_of(const thimble_micro* m);

/* The buffer of a tensor in the wof file, NULL where it has none. */
const unsigned char* micro_wof_buffer(const thimble_micro* m, uint32_t tensor);
/* Where its checksum begins, or its size where it has none. */
size_t micro_wof_payload(const thimble_micro* m);

thimble_micro_status micro_check_program(thimble_micro* m);
thimble_micro_status micro_check_calls(thimble_micro* m, size_t memory_bytes);
thimble_micro_status micro_check_files(const thimble_micro* m);
/* Sets the states of the optimizer to zeros. */
void micro_clear_states(thimble_micro* m);
void micro_set_stored(thimble_micro* m, const micro_stored* stored);
/* Element i of the wof file's order, at its place in the state. */
size_t micro_element(const micro_stored* stored, size_t i);
/* The bytes of arguments against what the kernel touches. */
int micro_fits(const micro_kernel* kernel, const void* params, const micro_argument* arguments,
               const micro_call* call);

#endif
