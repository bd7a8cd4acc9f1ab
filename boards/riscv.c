/* RISC-V's machine mode under QEMU: a fence around the memory that the linker script gives, and a
   counter of instructions. Source: "The RISC-V Instruction Set Manual, Volume II". */
#include "board.h"

extern uint32_t board_flash_begin[], board_ram_begin[], board_ram_end[];

int main(void);
void board_start(void);
void board_say_fault(uint32_t cause, uint32_t at, uint32_t address);

uint64_t board_instructions(void) {
  uint32_t high;
  uint32_t low;
  uint32_t again;
  do {
    __asm__ volatile("csrr %0, minstreth" : "=r"(high));
    __asm__ volatile("csrr %0, minstret" : "=r"(low));
    __asm__ volatile("csrr %0, minstreth" : "=r"(again));
  } while (high != again);
  return (uint64_t)high << 32 | low;
}

void board_say_fault(uint32_t cause, uint32_t at, uint32_t address) {
  board_print("fault\n");
  board_print_number("fault_at", at);
  board_print_number("fault_status", cause);
  board_print_number("fault_address", address);
  board_exit(42);
}

/* A region as the registers of physical memory protection take it. bytes: a power of 2. */
static uint32_t region(const uint32_t* begin, uint32_t bytes) {
  return (uint32_t)(uintptr_t)begin >> 2 | (bytes / 8 - 1);
}

/* Locked, so that they hold in machine mode: the flash may be read and executed, the memory read
   and written, all else nothing. */
static void raise_fence(void) {
  const uint32_t flash = region(board_flash_begin, 1u << 20);
  const uint32_t bytes = (uint32_t)((uintptr_t)board_ram_end - (uintptr_t)board_ram_begin);
  const uint32_t ram = region(board_ram_begin, bytes);
  __asm__ volatile("csrw pmpaddr0, %0" ::"r"(flash));
  __asm__ volatile("csrw pmpaddr1, %0" ::"r"(ram));
  __asm__ volatile("csrw pmpaddr2, %0" ::"r"(0xffffffffu));
  __asm__ volatile("csrw pmpcfg0, %0" ::"r"(0x989b9du) : "memory");
}

void board_start(void) {
  raise_fence();
  board_finish(main());
}
