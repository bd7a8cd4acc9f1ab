/* Writes beyond the 256 KB of the board: the fence must stop it. */
#include "board.h"

extern uint32_t board_ram_begin[];

int main(void) {
  volatile uint32_t* const last = board_ram_begin + 0x10000 - 1;
  last[0] = last[0];
  board_print("within\n");
  last[1] = 1;
  board_print("beyond\n");
  return 0;
}
