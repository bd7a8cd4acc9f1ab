#include "kernels.h"

#include "board.h"
#include "steps.h"

static const char* current; /* NULL: none runs */
static const char* current_value;
static uint64_t begin;

static void print_current(void) {
  const uint64_t count = board_instructions() - begin;
  if (current == 0) return;
  board_print("kernel ");
  board_print(steps_running());
  board_print(" ");
  board_print(current);
  board_print(" ");
  board_print(current_value);
  board_print_number("", count);
}

/* What printing takes belongs to no kernel. */
void kernel_begins(const char* kernel, const char* value) {
  print_current();
  current = kernel;
  current_value = value;
  begin = board_instructions();
}

void kernels_end(void) {
  print_current();
  current = 0;
}
