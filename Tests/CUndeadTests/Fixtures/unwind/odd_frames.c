// Frames that have no plain rule, in random order, again and again: realigned ones, interrupted ones, ones found by
// other registers, code that belongs to no image. What is inside of them lies where it lay while they differ.
#define _GNU_SOURCE
#include "frames.h"
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef void (*callback)(void *);
typedef void (*caller)(callback function, void *context, int way);

static void *volatile sink;

static __attribute__((noinline)) void touch(size_t size) {
  void *block = malloc(size);
  sink = block;
  free(block);
}

// Each calls `function`. Two ways differ in the return address and by 16 bytes of the frame, and leave in place of the one
// what the other wrote; what is inside of a realigned frame mostly lies where it lay.
void call_realigned(callback function, void *context);
void either_realigned(callback function, void *context, int way);
void either_foreign(callback function, void *context, int way);
void either_interrupted(callback function, void *context, int way);
void by_register(callback function, void *context, int way);
void either_by_register(callback function, void *context, int way);
void by_other_register(callback function, void *context, int way);
__asm__(
    ".text\n"
    "call_realigned:\n"
    ".cfi_startproc\n"
    REALIGNED_FRAME
    "  mov %rdi, %rax\n"
    "  mov %rsi, %rdi\n"
    "  call *%rax\n"
    REALIGNED_END
    RETURN
    "either_foreign:\n"
    "  mov foreign(%rip), %rcx\n"
    "  jmp either\n"
    "either_by_register:\n"
    "  lea by_register(%rip), %rcx\n"
    "  jmp either\n"
    "either_realigned:\n"
    "  lea call_realigned(%rip), %rcx\n"
    "either:\n"
    ".cfi_startproc\n"
    FRAME_BY("rbp")
    "  test $1, %edx\n"
    "  jne 1f\n"
    "  call *%rcx\n"
    "  jmp 2f\n"
    "1: sub $16, %rsp\n"
    "  call *%rcx\n"
    "2: leave\n"
    RETURN
    // The handler finds what to call in the registers that it was interrupted with.
    "either_interrupted:\n"
    ".cfi_startproc\n"
    FRAME_BY("rbp")
    "  test $2, %edx\n"
    "  je 1f\n"
    "  sub $16, %rsp\n"
    "1: and $-64, %rsp\n"
    "  test $1, %edx\n"
    "  je 2f\n"
    "  int3\n"
    "  jmp 3f\n"
    "2: int3\n"
    "3: leave\n"
    RETURN
    "by_register:\n"
    ".cfi_startproc\n"
    FRAME_BY("rbx")
    "  sub $16, %rsp\n"
    "  test %edx, %edx\n"
    "  je 1f\n"
    "  sub $32, %rsp\n"
    "1: and $-64, %rsp\n"
    "  mov %rdi, %rax\n"
    "  mov %rsi, %rdi\n"
    "  call *%rax\n"
    "  mov %rbx, %rsp\n"
    "  pop %rbx\n"
    RETURN
    // The same by one of those with a number, the others changed, and rbp saved further in.
    "by_other_register:\n"
    ".cfi_startproc\n"
    "  push %rbx\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset %rbx, -16\n"
    "  push %r14\n"
    ".cfi_def_cfa_offset 24\n"
    ".cfi_offset %r14, -24\n"
    "  push %rbp\n"
    ".cfi_def_cfa_offset 32\n"
    ".cfi_offset %rbp, -32\n"
    "  lea 24(%rsp), %r14\n"
    ".cfi_def_cfa %r14, 8\n"
    "  xor %ebx, %ebx\n"
    "  test $2, %edx\n"
    "  je 1f\n"
    "  mov %rsp, %rbp\n"
    "  sub $48, %rsp\n"
    "1: and $-64, %rsp\n"
    "  mov %rdi, %rax\n"
    "  mov %rsi, %rdi\n"
    "  call *%rax\n"
    "  lea -24(%r14), %rsp\n"
    "  pop %rbp\n"
    "  pop %r14\n"
    ".cfi_def_cfa %rsp, 16\n"
    "  pop %rbx\n"
    ".cfi_def_cfa_offset 8\n"
    "  ret\n"
    ".cfi_endproc\n");

static void handle(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
  ((callback)(uintptr_t)registers[REG_RDI])((void *)(uintptr_t)registers[REG_RSI]);
}

// push %rbp; mov %rsp, %rbp; test $2, %edx; je 1f; sub $32, %rsp; 1: and $-64, %rsp; mov %rdi, %rax; mov %rsi, %rdi;
// call *%rax; leave; ret
static const unsigned char foreign_code[] = {0x55, 0x48, 0x89, 0xe5, 0xf6, 0xc2, 0x02, 0x74, 0x04, 0x48, 0x83, 0xec,
                                             0x20, 0x48, 0x83, 0xe4, 0xc0, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff,
                                             0xd0, 0xc9, 0xc3};
caller foreign;

static __attribute__((noinline)) void by_compiler(callback function, void *context, int way) {
  _Alignas(64) volatile char aligned[64];
  volatile char *variable = alloca((size_t)(16 + way % 4 * 16));
  aligned[0] = variable[0] = 1;
  if (way & 1) function(context);
  else function(context);
  aligned[1] = variable[1];
}

static __attribute__((noinline)) void plain(callback function, void *context, int way) {
  if (way & 1) function(context);
  else function(context);
  touch(24);
}

typedef struct {
  uint32_t seed;
  int depth;
} dive_state;

static __attribute__((noinline)) void dive(void *context) {
  dive_state now = *(const dive_state *)context;
  const caller callers[] = {plain,          either_realigned,   by_compiler,       either_interrupted,
                            either_foreign, either_by_register, by_other_register, plain};
  touch(16 + now.seed % 5 * 16);
  if (now.depth == 0) return;
  uint32_t next = now.seed * 1664525u + 1013904223u;
  uint32_t kind = (next >> 16) % 8;
  dive_state inner = {next, now.depth - 1};
  callers[kind](dive, &inner, (int)(next >> 24 & 3));
  touch(48);
}

// The same stacks but for one way far out, in turn, and for long.
static void *run(void *rounds) {
  for (long round = 0; round < (long)rounds; round++) {
    for (uint32_t seed = 0; seed < 12; seed++) {
      dive_state start = {seed * 77777u + (uint32_t)(round / 20 % 3), 9};
      either_realigned(dive, &start, (int)(round & 1));
      either_foreign(dive, &start, (int)(round & 1));
      either_interrupted(dive, &start, (int)(round & 3));
      either_by_register(dive, &start, (int)(round & 1));
      by_compiler(dive, &start, (int)(round & 3));
    }
  }
  return NULL;
}

int main(int count, char **arguments) {
  long rounds = count > 1 ? atol(arguments[1]) : 60;
  unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, foreign_code, sizeof foreign_code);
  foreign = (caller)(uintptr_t)page;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGTRAP, &action, NULL);
  run((void *)rounds);
  pthread_t threads[2];
  for (int index = 0; index < 2; index++) pthread_create(&threads[index], NULL, run, (void *)(rounds / 4));
  for (int index = 0; index < 2; index++) pthread_join(threads[index], NULL);
  puts("done");
  return 0;
}
