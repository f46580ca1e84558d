/* Assembler macros: what an exported function of the driver does before its implementation runs.
 *
 * A thunk keeps every argument register and the stack as they are and jumps, so that one macro
 * serves functions of any signature. It
 *   - answers CUDA_ERROR_NOT_INITIALIZED (3) before cuInit and in a forked child,
 *   - moves the virtual clock on by one tick: one driver call (not where `ticks` is 0),
 *   - notes in a thread-local byte whether stream 0 means the thread's own stream (_ptsz, _ptds),
 * Included by the generated thunks.S only.
 */
/* clang-format off */
#if !defined(__x86_64__)
#error "tools/simgpu/driver/thunk.h: no thunks for this architecture yet"
#endif

.section .note.GNU-stack, "", @progbits
.text

.macro THUNK name index implementation per_thread_stream ticks
.globl \name
.type \name, @function
\name:
  endbr64
  cmpl $1, simgpu_driver_state(%rip)
  jne 1f
  .if \ticks
  lock incq simgpu_clock(%rip)
  .endif
  movq simgpu_per_thread_stream@gottpoff(%rip), %r11
  movb $\per_thread_stream, %fs:(%r11)
  jmp \implementation
1:
  movl $\index, %edi
  jmp simgpu_not_initialized
.size \name, . - \name
.endm

.macro THUNK_ALWAYS name implementation
.globl \name
.type \name, @function
\name:
  endbr64
  jmp \implementation
.size \name, . - \name
.endm

.macro THUNK_UNSUPPORTED name index
.globl \name
.type \name, @function
\name:
  endbr64
  cmpl $1, simgpu_driver_state(%rip)
  jne 1f
  lock incq simgpu_clock(%rip)
  movl $\index, %edi
  jmp simgpu_unsupported
1:
  movl $\index, %edi
  jmp simgpu_not_initialized
.size \name, . - \name
.endm
