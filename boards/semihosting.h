/* Calls to the emulator or debugger. Source: Arm, "Semihosting for AArch32 and AArch64", and RISC-V
   International, "RISC-V Semihosting". */
#ifndef THIMBLE_BOARDS_SEMIHOSTING_H_
#define THIMBLE_BOARDS_SEMIHOSTING_H_

#include <stdint.h>

enum {
  SEMIHOSTING_OPEN = 0x01,
  SEMIHOSTING_CLOSE = 0x02,
  SEMIHOSTING_PRINT = 0x04,
  SEMIHOSTING_WRITE = 0x05,
  SEMIHOSTING_READ = 0x06,
  SEMIHOSTING_EXIT = 0x20
};

/* argument: text, or the address of a block of words. */
static inline uintptr_t semihosting(uintptr_t call, const void* argument) {
#if defined(__arm__)
  register uintptr_t r0 __asm__("r0") = call;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
#else
  register uintptr_t a0 __asm__("a0") = call;
  register const void* a1 __asm__("a1") = argument;
  /* Three instructions of 4 bytes within a page tell the call from a break point. */
  __asm__ volatile(
      ".balign 16\n"
      ".option push\n"
      ".option norvc\n"
      "slli zero, zero, 0x1f\n"
      "ebreak\n"
      "srai zero, zero, 7\n"
      ".option pop\n"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return a0;
#endif
}

#endif
