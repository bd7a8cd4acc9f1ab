/* The host as a board. */
#include <stdio.h>
#include <stdlib.h>

#include "board.h"

enum { FILES = 8 };
static FILE* files[FILES];

void board_print(const char* text) { fputs(text, stdout); }
void board_print_number(const char* name, uint64_t number) {
  printf("%s %llu\n", name, (unsigned long long)number);
}
void board_exit(int status) { exit(status); }

int board_open(const char* path, int write) {
  for (int i = 0; i < FILES; ++i) {
    if (files[i] == NULL) {
      files[i] = fopen(path, write ? "wb" : "rb");
      return files[i] == NULL ? -1 : i;
    }
  }
  return -1;
}
size_t board_read(int file, void* to, size_t bytes) { return fread(to, 1, bytes, files[file]); }
size_t board_write(int file, const void* from, size_t bytes) {
  return fwrite(from, 1, bytes, files[file]);
}
void board_close(int file) {
  fclose(files[file]);
  files[file] = NULL;
}

uint64_t board_instructions(void) { return 0; }
uint32_t board_static_bytes(void) { return 0; }
uint32_t board_stack_bytes(void) { return 0; }
