/* Start-up of Cortex-M4, M7 and M55 under QEMU: memory, floating point, a fence around the memory
   that the linker script gives, and a counter of instructions. Source: Arm, "ARMv7-M Architecture
   Reference Manual" and "Armv8-M Architecture Reference Manual". */
#include "board.h"
#include "semihosting.h"

extern uint32_t board_data_source[], board_data_begin[], board_data_end[];
extern uint32_t board_zero_begin[], board_zero_end[];
extern uint32_t board_flash_begin[], board_flash_end[], board_ram_begin[], board_ram_end[];
extern uint32_t board_stack_end[], board_stack_begin[];
extern const uint32_t board_unused;

int main(void);
void board_start(void);
void board_reset(void);
void board_fault(void);
void board_say_fault(const uint32_t* frame);
void board_tick(void);

#define REGISTER(address) (*(volatile uint32_t*)(address))
#define TICK_CONTROL REGISTER(0xe000e010)
#define TICK_RELOAD REGISTER(0xe000e014)
#define TICK_VALUE REGISTER(0xe000e018)
#define HANDLER_CONTROL REGISTER(0xe000ed24)
#define FAULT_STATUS REGISTER(0xe000ed28)
#define FAULT_ADDRESS REGISTER(0xe000ed34)
#define MPU_TYPE REGISTER(0xe000ed90)
#define MPU_CONTROL REGISTER(0xe000ed94)
#define MPU_NUMBER REGISTER(0xe000ed98)
#define MPU_BASE REGISTER(0xe000ed9c)
#define MPU_SIZE REGISTER(0xe000eda0) /* v8-M: the limit */
#define MPU_KINDS REGISTER(0xe000edc0)

#define TICKS_OF_A_ROUND 0x1000000u

static volatile uint32_t rounds;

void board_tick(void) { rounds = rounds + 1; }

static uint64_t ticks(void) {
  uint32_t before;
  uint32_t left;
  do {
    before = rounds;
    left = TICK_VALUE;
  } while (before != rounds);
  /* A round begins at 0, which is also what the timer holds before the first. */
  return (uint64_t)before * TICKS_OF_A_ROUND + (left == 0 ? 0 : TICKS_OF_A_ROUND - left);
}

/* The emulator runs an instruction in 1 ns, and the timer at BOARD_TIMER_MHZ. */
uint64_t board_instructions(void) { return ticks() * 1000 / BOARD_TIMER_MHZ; }

/* The flash may be read and executed, the memory read and written; all else faults, but the
   processor's own registers. */
static void raise_fence(void) {
  const uint32_t flash = (uint32_t)(uintptr_t)board_flash_begin;
  const uint32_t ram = (uint32_t)(uintptr_t)board_ram_begin;
  if ((MPU_TYPE >> 8 & 255) == 0) {
    board_print("this board has no memory protection\n");
    board_exit(3);
  }
#if __ARM_ARCH >= 8
  MPU_KINDS = 0xff; /* kind 0: normal memory */
  MPU_NUMBER = 0;
  MPU_BASE = flash | 3u << 1; /* read only */
  MPU_SIZE = ((uint32_t)(uintptr_t)board_flash_end - 32) | 1;
  MPU_NUMBER = 1;
  MPU_BASE = ram | 1u << 1 | 1; /* no execution */
  MPU_SIZE = ((uint32_t)(uintptr_t)board_ram_end - 32) | 1;
  MPU_NUMBER = 2; /* the vectors, at 0 */
  MPU_BASE = 3u << 1;
  MPU_SIZE = (1024 - 32) | 1;
#else
  const uint32_t ram_bytes = (uint32_t)(uintptr_t)board_ram_end - ram;
  uint32_t bits = 0; /* of the size, less 1 */
  while (2u << bits < ram_bytes) ++bits;
  MPU_NUMBER = 0;
  MPU_BASE = flash;
  MPU_SIZE = 6u << 24 | 1u << 17 | 19u << 1 | 1; /* read only, 2^20 bytes */
  MPU_NUMBER = 1;
  MPU_BASE = ram;
  MPU_SIZE = 1u << 28 | 3u << 24 | 1u << 17 | bits << 1 | 1; /* no execution */
#endif
  MPU_CONTROL = 1;
  __asm__ volatile("dsb\n isb" ::: "memory");
}

void board_say_fault(const uint32_t* frame) {
  board_print("fault\n");
  board_print_number("fault_at", frame[6]);
  board_print_number("fault_status", FAULT_STATUS);
  board_print_number("fault_address", FAULT_ADDRESS);
  board_exit(42);
}

__attribute__((naked)) void board_fault(void) {
  __asm__ volatile(
      "mrs r0, msp\n"
      "b board_say_fault\n");
}

/* Floating point first: the compiler may use its registers anywhere in C. */
__attribute__((naked)) void board_reset(void) {
  __asm__ volatile(
      "ldr r0, =0xe000ed88\n"
      "ldr r1, [r0]\n"
      "orr r1, r1, #0xf00000\n"
      "str r1, [r0]\n"
      "dsb\n"
      "isb\n"
      "b board_start\n"
      ".ltorg\n");
}

void board_start(void) {
  const uint32_t* from = board_data_source;
  uint32_t* top;
  for (uint32_t* to = board_data_begin; to < board_data_end; ++to) *to = *from++;
  for (uint32_t* to = board_zero_begin; to < board_zero_end; ++to) *to = 0;
  __asm__ volatile("mov %0, sp" : "=r"(top));
  for (uint32_t* to = board_stack_end; to < top - 16; ++to) *to = board_unused;
  HANDLER_CONTROL |= 7u << 16; /* faults of memory, bus and usage */
  raise_fence();
  TICK_RELOAD = TICKS_OF_A_ROUND - 1;
  TICK_VALUE = 0;
  TICK_CONTROL = 7; /* on, with an interrupt at 0, by the processor's clock */
  board_finish(main());
}

typedef void (*handler)(void);
extern handler board_vectors[16];
__attribute__((section(".vectors"), used))
handler board_vectors[16] = {(handler)(void*)board_stack_begin,
                             board_reset,
                             board_fault,
                             board_fault,
                             board_fault,
                             board_fault,
                             board_fault,
                             board_fault,
                             0,
                             0,
                             0,
                             board_fault,
                             board_fault,
                             0,
                             board_fault,
                             board_tick};
