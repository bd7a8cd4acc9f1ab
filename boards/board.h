/* What a program without an operating system may ask of its board: output, files of the machine
   that runs the emulator, and what it has used. Implemented for Cortex-M and RISC-V under QEMU, and
   for the host (host.c), so that one program runs everywhere. */
#ifndef THIMBLE_BOARDS_BOARD_H_
#define THIMBLE_BOARDS_BOARD_H_

#include <stddef.h>
#include <stdint.h>

void board_print(const char* text);
/* "name number", in a line. */
void board_print_number(const char* name, uint64_t number);
/* Ends the program. status: 0 for success. */
void board_exit(int status);

/* A file's number, or -1. write: 1 to create it anew, 0 to read it. */
int board_open(const char* path, int write);
/* How many bytes were read or written. */
size_t board_read(int file, void* to, size_t bytes);
size_t board_write(int file, const void* from, size_t bytes);
void board_close(int file);

/* Instructions since the start: exact on RISC-V, a multiple of 40 on M4 and M7 and about one of 31
   on M55; 0 on the host. */
uint64_t board_instructions(void);
/* Bytes of memory for variables, and of the stack so far; 0 on the host. */
uint32_t board_static_bytes(void);
uint32_t board_stack_bytes(void);

/* Prints what the program has used, and ends it: what happens after main. */
void board_finish(int status);

#endif
