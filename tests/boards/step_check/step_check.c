/* Stands for an exported model: a function with arguments in registers and on the stack, of which
   the board counts the instructions. */
int thimble_train_step(const float* a, int b, float c, int d, int e, int f, int g, int h, int i,
                       int j, volatile int* rounds);

/* At least 8 instructions a round. */
int thimble_train_step(const float* a, int b, float c, int d, int e, int f, int g, int h, int i,
                       int j, volatile int* rounds) {
  for (int n = *rounds; n > 0; --n) {
    __asm__ volatile("nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop");
  }
  return (int)a[1] + 2 * b + 3 * (int)c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}
