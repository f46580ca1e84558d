/* Calls a function inside of a signal handler, on the calling thread. Loaded by program.py. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

typedef long (*Function)(long, long);

static struct {
  Function function;
  long first;
  long second;
  long result;
} call;

static void handle_call(int signal) {
  (void)signal;
  call.result = call.function(call.first, call.second);
}

/* The function's result. `on_other_stack`: as by sigaltstack(). */
long call_in_handler(int signal, int on_other_stack, Function function, long first, long second) {
  static char other_stack[256 << 10];
  stack_t old_stack;
  const stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
  sigaltstack(&stack, &old_stack);
  struct sigaction action = {.sa_handler = handle_call};
  if (on_other_stack) action.sa_flags = SA_ONSTACK;
  struct sigaction old_action;
  sigaction(signal, &action, &old_action);
  call.function = function;
  call.first = first;
  call.second = second;
  raise(signal);
  sigaction(signal, &old_action, NULL);
  sigaltstack(&old_stack, NULL);
  return call.result;
}

/* ---- The same at one instruction of another function, by the processor's single-step mode. */

static struct {
  unsigned long begin;
  unsigned long end;
  long chosen;
  long seen;
} steps;

static void handle_step(int signal, siginfo_t* info, void* context) {
  (void)info;
  const unsigned long address = (unsigned long)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  if (address - steps.begin >= steps.end - steps.begin) return;
  if (steps.seen++ == steps.chosen) handle_call(signal);
}

/* Calls stepped(argument) and, before its instruction number `chosen` of those in [begin, end),
 * function(first, second); how many instructions there were. */
long call_at_instruction(void (*stepped)(void*), void* argument, unsigned long begin,
                         unsigned long end, long chosen, Function function, long first,
                         long second) {
  call.function = function;
  call.first = first;
  call.second = second;
  call.result = -1;
  steps.begin = begin;
  steps.end = end;
  steps.chosen = chosen;
  steps.seen = 0;
  struct sigaction action = {.sa_sigaction = handle_step, .sa_flags = SA_SIGINFO};
  struct sigaction old_action;
  sigaction(SIGTRAP, &action, &old_action);
  __asm__ volatile("sub $128, %%rsp; pushf; orq $0x100, (%%rsp); popf; add $128, %%rsp" ::
                       : "memory", "cc");
  stepped(argument);
  __asm__ volatile("sub $128, %%rsp; pushf; andq $~0x100, (%%rsp); popf; add $128, %%rsp" ::
                       : "memory", "cc");
  sigaction(SIGTRAP, &old_action, NULL);
  return steps.seen;
}

long result_of_call(void) { return call.result; }
