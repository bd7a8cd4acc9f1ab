/* What the C library of a board asks an operating system for: printf prints, and nothing else
 * works. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "board.h"

static void print_bytes(const char* bytes, size_t count) {
  char text[64];
  while (count > 0) {
    const size_t part = count < sizeof text - 1 ? count : sizeof text - 1;
    for (size_t i = 0; i < part; ++i) text[i] = bytes[i];
    text[part] = 0;
    board_print(text);
    bytes += part;
    count -= part;
  }
}

#if defined(__arm__)
/* newlib */
int _write(int file, const char* bytes, int count);
int _read(int file, char* bytes, int count);
int _close(int file);
int _lseek(int file, int offset, int whence);
int _fstat(int file, void* status);
int _isatty(int file);
int _getpid(void);
int _kill(int process, int signal);
void _exit(int status);
void* _sbrk(ptrdiff_t bytes);

int _write(int file, const char* bytes, int count) {
  (void)file;
  print_bytes(bytes, (size_t)count);
  return count;
}
int _read(int file, char* bytes, int count) {
  (void)file;
  (void)bytes;
  (void)count;
  return 0;
}
int _close(int file) {
  (void)file;
  return -1;
}
int _lseek(int file, int offset, int whence) {
  (void)file;
  (void)offset;
  (void)whence;
  return 0;
}
int _fstat(int file, void* status) {
  (void)file;
  (void)status;
  return -1;
}
int _isatty(int file) {
  (void)file;
  return 1;
}
int _getpid(void) { return 1; }
int _kill(int process, int signal) {
  (void)process;
  (void)signal;
  return -1;
}
void _exit(int status) {
  board_exit(status);
  for (;;) {
  }
}

/* That of small C libraries writes bytes. The attribute: so that it does not call itself. */
__attribute__((optimize("no-tree-loop-distribute-patterns"))) void* memset(void* to, int value,
                                                                           size_t bytes) {
  const uint32_t word = 0x01010101U * (uint8_t)value;
  uint8_t* at = to;
  for (; bytes > 0 && (uintptr_t)at % 4 != 0; --bytes) *at++ = (uint8_t)value;
  for (; bytes >= 16; bytes -= 16, at += 16) {
    uint32_t* const words = (uint32_t*)(void*)at;
    words[0] = word;
    words[1] = word;
    words[2] = word;
    words[3] = word;
  }
  for (; bytes > 0; --bytes) *at++ = (uint8_t)value;
  return to;
}

/* For the buffer of printf. */
void* _sbrk(ptrdiff_t bytes) {
  static uint64_t heap[256];
  static ptrdiff_t used;
  if (used + bytes > (ptrdiff_t)sizeof heap) return (void*)-1;
  used += bytes;
  return (char*)heap + used - bytes;
}
#else
/* picolibc */
static int put(char c, FILE* file) {
  (void)file;
  print_bytes(&c, 1);
  return (unsigned char)c;
}
static FILE output = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE* const stdout = &output;
FILE* const stderr = &output;
#endif
