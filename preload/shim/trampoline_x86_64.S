/* Exported entry points of the shim, x86-64 (System V ABI).
 *
 * Each hooked symbol is one indirect jump, so that whatever runs next (wrapper, real function) finds
 * the application's return address on top of the stack:
 *
 *   cuMemAlloc_v2:  jmp *hook_targets[row]  ->  at first: lazy_ROW -> lazy_common -> shim_first_call
 *                                           ->  then:     the core's wrapper, or the real function
 */
#include "hook_rows.h"

/* Defines the exported symbol, its lazy stub and its slots in hook_targets and hook_entries. */
.macro hook symbol, row
  .text
  .p2align 4
  .globl \symbol
  .type \symbol, @function
\symbol:
entry_\row:
  endbr64
  jmp *(hook_targets + 8 * \row)(%rip)
  .size \symbol, . - \symbol

lazy_\row:
  endbr64
  pushq $\row
  jmp lazy_common

  .section .data.hook_targets, "aw", @progbits
  .quad lazy_\row

  .section .data.rel.ro.hook_entries, "aw", @progbits
  .quad entry_\row
.endm

  .section .data.hook_targets, "aw", @progbits
  .p2align 6
  .globl hook_targets
  .hidden hook_targets
  .type hook_targets, @object
  .size hook_targets, 8 * HOOK_ROW_COUNT
hook_targets:

  .section .data.rel.ro.hook_entries, "aw", @progbits
  .p2align 3
  .globl hook_entries
  .hidden hook_entries
  .type hook_entries, @object
  .size hook_entries, 8 * HOOK_ROW_COUNT
hook_entries:

#include "hook_rows.inc"

/* Asks shim_first_call(row) where to go and goes there with all argument registers as they came.
 *
 *   rsp + 200  return address of the application
 *   rsp + 192  row, pushed by the lazy stub
 *   rsp + 128  rax rdi rsi rdx rcx r8 r9 r10
 *   rsp        xmm0 .. xmm7
 */
  .text
  .p2align 4
  .type lazy_common, @function
lazy_common:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  pushq %rax
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %rcx
  pushq %r8
  pushq %r9
  pushq %r10
  .cfi_def_cfa_offset 80
  subq $128, %rsp
  .cfi_def_cfa_offset 208
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  movl 192(%rsp), %edi
  call shim_first_call
  movq %rax, %r11
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  addq $128, %rsp
  .cfi_def_cfa_offset 80
  popq %r10
  popq %r9
  popq %r8
  popq %rcx
  popq %rdx
  popq %rsi
  popq %rdi
  popq %rax
  addq $8, %rsp
  .cfi_def_cfa_offset 8
  jmp *%r11
  .cfi_endproc
  .size lazy_common, . - lazy_common

/* dlsym(handle, name): RTLD_NEXT and RTLD_DEFAULT depend on the caller, so the real dlsym is entered
 * by a jump, with the caller's return address on top of the stack. Only where shim_dlsym has the
 * answer already (rdx != 0) does this return by itself.
 */
  .text
  .p2align 4
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  pushq %rsi
  .cfi_def_cfa_offset 24
  movq 16(%rsp), %rdx
  subq $8, %rsp
  .cfi_def_cfa_offset 32
  call shim_dlsym
  addq $8, %rsp
  popq %rsi
  popq %rdi
  .cfi_def_cfa_offset 8
  testq %rdx, %rdx
  jne 1f
  jmp *next_dlsym(%rip)
1:
  ret
  .cfi_endproc
  .size dlsym, . - dlsym

/* dlopen(name, mode): always the real one's job, entered by a jump. */
  .text
  .p2align 4
  .globl dlopen
  .type dlopen, @function
dlopen:
  .cfi_startproc
  endbr64
  pushq %rdi
  pushq %rsi
  subq $8, %rsp
  .cfi_def_cfa_offset 32
  call shim_dlopen
  addq $8, %rsp
  popq %rsi
  popq %rdi
  .cfi_def_cfa_offset 8
  jmp *next_dlopen(%rip)
  .cfi_endproc
  .size dlopen, . - dlopen

  .section .note.GNU-stack, "", @progbits
