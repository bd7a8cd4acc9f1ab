/* Counts the instructions of every kernel: scripts/qemu.sh --kernels includes it before the
   sources. C code of thimble export-c says which kernel begins. */
#ifndef BOARDS_KERNELS_H
#define BOARDS_KERNELS_H

/* A kernel begins, and so ends the one before. Prints the latter's instructions. value: its result.
 */
void kernel_begins(const char* kernel, const char* value);
/* The last kernel of a function has ended. */
void kernels_end(void);

#define THIMBLE_KERNEL(kernel, value) kernel_begins(kernel, value);
#define THIMBLE_KERNELS_END kernels_end();

#endif
