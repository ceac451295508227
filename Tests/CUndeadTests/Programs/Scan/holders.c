// Threads that hold blocks in places of their own.
#define _GNU_SOURCE
#include "program.h"
#include "threads.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_bool on_other_stack;

static void wait_on_other_stack(int number) {
  (void)number;
  on_other_stack = true;
  while (!stopped) usleep(1000);
}

static void *use_other_stack(void *block) {
  void *volatile held = block;
  stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = wait_on_other_stack, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  return held;
}

void start_thread_on_other_stack(void *block) {
  start(use_other_stack, block);
  while (!on_other_stack) usleep(1000);
}

// allocate_holding(disguised, flag): keeps the reference in rbx until the flag is set.
void allocate_holding(uintptr_t disguised, volatile bool *flag);
__asm__(
  ".text\n"
  ".type allocate_holding, @function\n"
  "allocate_holding:\n\t"
  "pushq %rbx\n\tpushq %r12\n\tsubq $8, %rsp\n\t"
  "movq %rdi, %rbx\n\tnotq %rbx\n\tmovq %rsi, %r12\n"
  "1:\tmovl $100, %edi\n\tcall malloc@PLT\n\tmovq %rax, %rdi\n\tcall free@PLT\n\t"
  "cmpb $0, (%r12)\n\tje 1b\n\t"
  "addq $8, %rsp\n\tpopq %r12\n\tpopq %rbx\n\tret\n"
  ".size allocate_holding, . - allocate_holding\n");

static void *block_all_and_allocate(void *disguised) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  allocate_holding((uintptr_t)disguised, &stopped);
  return NULL;
}

void start_allocating_thread(uintptr_t disguised) {
  pthread_t thread = start(block_all_and_allocate, (void *)disguised);
  clockid_t clock;
  struct timespec time = {0};
  pthread_getcpuclockid(thread, &clock);
  // One that has worked for so long is in the loop, and has the reference in its register.
  while (time.tv_sec == 0 && time.tv_nsec < 2000000) {
    usleep(1000);
    clock_gettime(clock, &time);
  }
}

static pthread_key_t key;
static atomic_int ready;

typedef struct {
  void **blocks;
  size_t count;
} block_list;

static void *free_all(void *argument) {
  block_list list = *(block_list *)argument;
  for (size_t i = 0; i < list.count; i++) free(list.blocks[i]);
  ready++;
  return NULL;
}

// Of an arena of its own, whose lock it may keep: others can go on allocating.
static void *free_own(void *argument) {
  block_list list = *(block_list *)argument;
  for (size_t i = 0; i < list.count; i++) list.blocks[i] = malloc(136 + i % 16 * 16);
  return free_all(argument);
}

static void work(int number) {
  (void)number;
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < 50000000);
}

static void wait_for_ever(int number) {
  (void)number;
  for (;;) pause();
}

pthread_t start_ending_thread(void **blocks, size_t count, bool waits) {
  static block_list list;
  list = (block_list){blocks, count};
  struct sigaction action = {.sa_handler = waits ? wait_for_ever : work, .sa_flags = SA_RESTART};
  sigaction(SIGUSR2, &action, NULL);
  int before = ready;
  pthread_t thread = start(waits ? free_own : free_all, &list);
  while (ready == before);
  usleep(200);
  pthread_kill(thread, SIGUSR2);
  return thread;
}

static void *hold_value(void *block) {
  pthread_setspecific(key, block);
  block = NULL;
  ready++;
  while (!stopped) usleep(1000);
  return NULL;
}

void start_thread_with_value(void *block) {
  int before = ready;
  if (!key) pthread_key_create(&key, NULL);
  // Destroyed threads leave their stacks to new ones: the argument is nowhere but in the descriptor and the value.
  start(hold_value, block);
  while (ready == before) usleep(1000);
}

static __attribute__((noinline)) void keep_dynamic_value(void **box) {
  // A library that is loaded late has its thread-local storage in memory of malloc, found by the thread's vector.
  void (*keep)(void *) = (void (*)(void *))dlsym(dlopen(THREAD_VALUE_LIBRARY, RTLD_NOW), "keep_in_thread");
  keep(*box);
  *box = NULL;
}

static __attribute__((noinline)) void clear_stack_below(void) {
  volatile char unused[16384];
  for (size_t i = 0; i < sizeof unused; i++) unused[i] = 0;
}

static void *hold_dynamic_value(void *box) {
  keep_dynamic_value(box);
  clear_stack_below();
  ready++;
  while (!stopped) usleep(1000);
  return NULL;
}

void start_thread_with_dynamic_value(void *block) {
  // The argument stays in the thread's descriptor.
  static void *box;
  box = block;
  int before = ready;
  start(hold_dynamic_value, &box);
  while (ready == before) usleep(1000);
}

// Keeps a block in one register until `stopped`, by an instruction that moves it from %0 there.
#define HOLD_IN(...) \
  __asm__ volatile( \
    __VA_ARGS__ "xor %k0, %k0\n" \
    "1: cmpb $0, (%1)\n\t" \
    "je 1b" \
    : "+r"(block) \
    : "r"(&stopped) \
    : "r9", "xmm5", "xmm17", "memory", "cc")

static void *register_block;   // the argument of a thread stays in its descriptor

__attribute__((target("avx512f"))) static void hold_in_wide_vector(void *block, bool low_half) {
  if (low_half) HOLD_IN("vpbroadcastq %0, %%zmm17\n\t");
  else HOLD_IN("movq %0, %%xmm5\n\tvinserti32x4 $3, %%xmm5, %%zmm5, %%zmm5\n\tvpxorq %%xmm6, %%xmm6, %%xmm6\n\t"
               "vinserti32x4 $0, %%xmm6, %%zmm5, %%zmm5\n\t");
}

__attribute__((target("avx2"))) static void hold_in_vector(void *block) {
  HOLD_IN("movq %0, %%xmm5\n\tvinserti128 $1, %%xmm5, %%ymm5, %%ymm5\n\tvpxor %%xmm6, %%xmm6, %%xmm6\n\t"
          "vinserti128 $0, %%xmm6, %%ymm5, %%ymm5\n\t");
}

static void *hold_register(void *kind) {
  void *block = register_block;
  register_block = NULL;
  ready++;
  if (kind == (void *)UPPER_VECTOR && __builtin_cpu_supports("avx2")) hold_in_vector(block);
  else if (kind == (void *)WIDE_VECTOR && __builtin_cpu_supports("avx512f")) hold_in_wide_vector(block, false);
  else if (kind == (void *)FURTHER_VECTOR && __builtin_cpu_supports("avx512f")) hold_in_wide_vector(block, true);
  else if (kind == (void *)GENERAL_REGISTER) HOLD_IN("mov %0, %%r9\n\t");
  else HOLD_IN("movq %0, %%xmm5\n\t");
  return NULL;
}

void start_thread_with_register(void *block, enum register_kind kind) {
  int before = ready;
  register_block = block;
  start(hold_register, (void *)kind);
  while (ready == before) usleep(1000);
}
