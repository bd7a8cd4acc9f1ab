/* Calls the functions of step_check.c. */
#include <stdio.h>

int thimble_train_step(const float* a, int b, float c, int d, int e, int f, int g, int h, int i,
                       int j, volatile int* rounds);

int main(void) {
  const float numbers[2] = {0, 1};
  volatile int rounds = 100000;
  int sum = thimble_train_step(numbers, 2, 3, 4, 5, 6, 7, 8, 9, 10, &rounds);
  printf("sum %d\n", sum);
  sum += thimble_train_step(numbers, 2, 3, 4, 5, 6, 7, 8, 9, 10, &rounds);
  return sum == 770 ? 0 : 1;
}
