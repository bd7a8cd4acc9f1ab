/* The part of board.h that all boards share. */
#include "board.h"

#include <string.h>

#include "semihosting.h"
#include "steps.h"

extern uint32_t board_ram_begin[], board_stack_end[], board_stack_begin[];

/* What the start-up code writes into the stack; the first word that differs was used. */
const uint32_t board_unused = 0xa5a5a5a5u;

void board_print(const char* text) { semihosting(SEMIHOSTING_PRINT, text); }

void board_print_number(const char* name, uint64_t number) {
  char digits[24];
  size_t at = sizeof digits - 1;
  digits[at] = 0;
  digits[--at] = '\n';
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  digits[--at] = ' ';
  board_print(name);
  board_print(digits + at);
}

void board_exit(int status) {
  const uintptr_t block[2] = {0x20026, (uintptr_t)status}; /* the application has ended */
  semihosting(SEMIHOSTING_EXIT, block);
  for (;;) {
  }
}

int board_open(const char* path, int write) {
  const uintptr_t block[3] = {(uintptr_t)path, write ? 5 : 1, strlen(path)}; /* "wb", "rb" */
  return (int)semihosting(SEMIHOSTING_OPEN, block);
}

/* The calls return the bytes that are left. */
size_t board_read(int file, void* to, size_t bytes) {
  const uintptr_t block[3] = {(uintptr_t)file, (uintptr_t)to, bytes};
  return bytes - semihosting(SEMIHOSTING_READ, block);
}
size_t board_write(int file, const void* from, size_t bytes) {
  const uintptr_t block[3] = {(uintptr_t)file, (uintptr_t)from, bytes};
  return bytes - semihosting(SEMIHOSTING_WRITE, block);
}

void board_close(int file) {
  const uintptr_t block[1] = {(uintptr_t)file};
  semihosting(SEMIHOSTING_CLOSE, block);
}

uint32_t board_static_bytes(void) {
  return (uint32_t)((uintptr_t)board_stack_end - (uintptr_t)board_ram_begin);
}

uint32_t board_stack_bytes(void) {
  const uint32_t* word = board_stack_end;
  while (word < board_stack_begin && *word == board_unused) ++word;
  return (uint32_t)((uintptr_t)board_stack_begin - (uintptr_t)word);
}

void board_finish(int status) {
  const uint32_t fixed = board_static_bytes();
  const uint32_t stack = board_stack_bytes();
  const uint64_t all = board_instructions();
  steps_print();
  board_print_number("instructions", all);
  board_print_number("static_bytes", fixed);
  board_print_number("stack_bytes", stack);
  board_print_number("ram_bytes", fixed + stack);
  board_exit(status);
}
