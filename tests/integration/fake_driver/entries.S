/* Every row of the hook table as one indirect jump.
 *
 * In the fake driver (FAKE_DRIVER) the exported entry points; in a program linked with it (else) a
 * caller for each, through the program's PLT.
 */
#include "hook_rows.h"

#ifdef FAKE_DRIVER
#define TARGETS fake_targets
#define ENTRIES fake_entries
#else
#define ENTRIES linked_entries
#endif

.macro hook symbol, row
  .text
#ifdef FAKE_DRIVER
  .globl \symbol
  .type \symbol, @function
\symbol:
entry_\row:
  jmp *(TARGETS + 8 * \row)(%rip)
#else
entry_\row:
  jmp \symbol@PLT
#endif
  .section .data.rel.ro.entries, "aw", @progbits
  .quad entry_\row
.endm

  .section .data.rel.ro.entries, "aw", @progbits
  .p2align 3
  .globl ENTRIES
  .hidden ENTRIES
ENTRIES:

#include "hook_rows.inc"

#ifdef FAKE_DRIVER
  .bss
  .p2align 3
  .globl TARGETS
  .hidden TARGETS
TARGETS:
  .zero 8 * HOOK_ROW_COUNT
#endif

  .section .note.GNU-stack, "", @progbits
