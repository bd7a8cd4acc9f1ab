/* Start-up of RISC-V: floating point where there is any, a stack, variables, then main. */
  .section .text.start, "ax"
  .globl board_reset
board_reset:
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, board_stack_begin
  la t0, board_trap
  csrw mtvec, t0
#ifdef __riscv_flen
  li t0, 0x6000
  csrs mstatus, t0
#endif
  la a0, board_data_source
  la a1, board_data_begin
  la a2, board_data_end
1:
  bgeu a1, a2, 2f
  lw t0, 0(a0)
  sw t0, 0(a1)
  addi a0, a0, 4
  addi a1, a1, 4
  j 1b
2:
  la a1, board_zero_begin
  la a2, board_zero_end
3:
  bgeu a1, a2, 4f
  sw zero, 0(a1)
  addi a1, a1, 4
  j 3b
4:
  la a1, board_stack_end
  lw t0, board_unused
5:
  bgeu a1, sp, 6f
  sw t0, 0(a1)
  addi a1, a1, 4
  j 5b
6:
  call board_start
  .balign 4
board_trap:
  csrr a0, mcause
  csrr a1, mepc
  csrr a2, mtval
  la sp, board_stack_begin
  call board_say_fault
