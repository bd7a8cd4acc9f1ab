/* Counts the instructions of a model's functions without changing the model: the linker sends calls
   of thimble_train_step to __wrap_thimble_train_step, and __real_thimble_train_step is the function
   itself (ld's --wrap). The wrapper leaves the arguments in their registers and on the stack. It
   notes where to return to, counts, and lets the function return to itself. */
#include "steps.h"

#include "board.h"

typedef struct counted {
  uintptr_t back; /* where the caller goes on */
  uint64_t begin;
  uint64_t last; /* instructions of the last call */
  uint32_t calls;
} counted;

static counted train_step;
static counted predict;
static const counted* running;

void steps_begin(counted* c, uintptr_t back);
uintptr_t steps_end(counted* c);
counted* steps_of_train_step(void);
counted* steps_of_predict(void);

const char* steps_running(void) { return running == &predict ? "predict" : "train_step"; }

void steps_begin(counted* c, uintptr_t back) {
  running = c;
  c->back = back;
  c->begin = board_instructions();
}
uintptr_t steps_end(counted* c) {
  c->last = board_instructions() - c->begin;
  ++c->calls;
  return c->back;
}
counted* steps_of_train_step(void) { return &train_step; }
counted* steps_of_predict(void) { return &predict; }

#if defined(__arm__)
#define WRAP(function)                                          \
  void __wrap_thimble_##function(void);                         \
  __attribute__((naked)) void __wrap_thimble_##function(void) { \
    __asm__ volatile(                                           \
        "push {r0-r4, lr}\n"                                    \
        "bl steps_of_" #function                                \
        "\n"                                                    \
        "ldr r1, [sp, #20]\n"                                   \
        "bl steps_begin\n"                                      \
        "pop {r0-r4, lr}\n"                                     \
        "bl __real_thimble_" #function                          \
        "\n"                                                    \
        "push {r0, r4}\n"                                       \
        "bl steps_of_" #function                                \
        "\n"                                                    \
        "bl steps_end\n"                                        \
        "mov lr, r0\n"                                          \
        "pop {r0, r4}\n"                                        \
        "bx lr\n");                                             \
  }
#else
#define WRAP(function)                                          \
  void __wrap_thimble_##function(void);                         \
  __attribute__((naked)) void __wrap_thimble_##function(void) { \
    __asm__ volatile(                                           \
        "addi sp, sp, -48\n"                                    \
        "sw a0, 0(sp)\n"                                        \
        "sw a1, 4(sp)\n"                                        \
        "sw a2, 8(sp)\n"                                        \
        "sw a3, 12(sp)\n"                                       \
        "sw a4, 16(sp)\n"                                       \
        "sw a5, 20(sp)\n"                                       \
        "sw a6, 24(sp)\n"                                       \
        "sw a7, 28(sp)\n"                                       \
        "sw ra, 32(sp)\n"                                       \
        "call steps_of_" #function                              \
        "\n"                                                    \
        "lw a1, 32(sp)\n"                                       \
        "call steps_begin\n"                                    \
        "lw a0, 0(sp)\n"                                        \
        "lw a1, 4(sp)\n"                                        \
        "lw a2, 8(sp)\n"                                        \
        "lw a3, 12(sp)\n"                                       \
        "lw a4, 16(sp)\n"                                       \
        "lw a5, 20(sp)\n"                                       \
        "lw a6, 24(sp)\n"                                       \
        "lw a7, 28(sp)\n"                                       \
        "addi sp, sp, 48\n"                                     \
        "call __real_thimble_" #function                        \
        "\n"                                                    \
        "addi sp, sp, -16\n"                                    \
        "sw a0, 0(sp)\n"                                        \
        "call steps_of_" #function                              \
        "\n"                                                    \
        "call steps_end\n"                                      \
        "mv ra, a0\n"                                           \
        "lw a0, 0(sp)\n"                                        \
        "addi sp, sp, 16\n"                                     \
        "ret\n");                                               \
  }
#endif

WRAP(train_step)
WRAP(predict)

static void print(const char* name, const counted* c) {
  if (c->calls > 0) board_print_number(name, c->last);
}

void steps_print(void) {
  print("train_step_instructions", &train_step);
  print("predict_instructions", &predict);
}
