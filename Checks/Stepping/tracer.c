// Runs a program, and lets its threads go on instruction by instruction. Every now and then all of them are left alone
// in the middle of what they do, running in place, and the program looks for leaks.
//
//   tracer [--own] STRIDE LIBRARY PROGRAM [ARGUMENTS]: a look at each STRIDEth instruction of the program's own code, but for
//   functions that the Swift runtime calls from any thread, also while the program looks: PROGRAM.shared has their
//   addresses and sizes. With --own, what that code calls runs at full speed, and so does what is called from there.
#define _GNU_SOURCE
#include "traced.h"
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static stepping_traced *shared;
static pid_t program;
static unsigned stride, points, looks, reports;
static bool skips_libraries;
enum { MOST_FUNCTIONS = 10000 };

static struct {
  uintptr_t start, size;
} functions[MOST_FUNCTIONS];
static unsigned function_count;
static struct {
  uintptr_t pc;
  long code;   // that was there
} left[STEPPING_MOST_TRACED];

static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("tracer: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  if (program > 0) kill(program, SIGKILL);
  exit(70);
}

static void wake(uint32_t *word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void wait_while(uint32_t *word, uint32_t value) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) {
    struct timespec second = {1, 0};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &second, NULL, 0);
    int status;
    if (waitpid(program, &status, WNOHANG) == program) {
      program = 0;
      fail("the program has ended after %u looks, status %#x", looks, status);
    }
  }
}

static uintptr_t counter(pid_t tid) {
  errno = 0;
  long pc = ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user, regs.rip), 0);
  if (errno) fail("thread %d cannot be read", tid);
  return (uintptr_t)pc;
}

static void wait_for(pid_t tid) {
  int status;
  if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status)) fail("thread %d is gone, status %#x", tid, status);
}

enum { NOT_ALLOWED = 77 };

static void seize(pid_t tid) {
  if (ptrace(PTRACE_SEIZE, tid, 0, 0)) {
    if (errno != EPERM || looks) fail("thread %d cannot be traced", tid);
    printf("stepping: tracing is not allowed here\n");
    kill(program, SIGKILL);
    exit(NOT_ALLOWED);
  }
  if (ptrace(PTRACE_INTERRUPT, tid, 0, 0)) fail("thread %d cannot be interrupted", tid);
  wait_for(tid);
}

static void read_shared_functions(const char *path) {
  char name[4096];
  snprintf(name, sizeof name, "%s.shared", path);
  FILE *file = fopen(name, "r");
  if (!file) fail("%s cannot be read", name);
  while (function_count < MOST_FUNCTIONS
         && fscanf(file, "%lx %lx", &functions[function_count].start, &functions[function_count].size) == 2)
    function_count++;
  fclose(file);
  if (!function_count || function_count == MOST_FUNCTIONS) fail("%s has too few lines, or too many", name);
}

// Whether an instruction may be replaced.
static bool is_own(uintptr_t pc) {
  if (pc < shared->image_low || pc >= shared->image_high) return false;
  for (unsigned i = 0; i < function_count; i++)
    if (pc - shared->image - functions[i].start + 1 <= functions[i].size) return false;
  return true;
}

static bool is_skipped(uintptr_t pc) {
  for (int i = 0; i < STEPPING_SKIPPED; i++)
    if (pc == shared->skipped[i]) return true;
  return false;
}

// Lets the thread run to a place, by a breakpoint of the processor.
static void run_to(pid_t tid, long place) {
  if (ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg[0]), place)
      || ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg[7]), 1) || ptrace(PTRACE_CONT, tid, 0, 0))
    fail("thread %d cannot skip a function", tid);
  wait_for(tid);
  ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg[7]), 0);
  if (counter(tid) != (uintptr_t)place) fail("thread %d has not come back from a function", tid);
}

static long stack_of(pid_t tid) { return ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user, regs.rsp), 0); }

// To the end of the function that the thread has just entered.
static void skip(pid_t tid) { run_to(tid, ptrace(PTRACE_PEEKDATA, tid, stack_of(tid), 0)); }

static bool comes_after_call(pid_t tid, uintptr_t place) {
  unsigned char before[8];
  *(long *)before = ptrace(PTRACE_PEEKTEXT, tid, place - 8, 0);
  if (before[3] == 0xE8) return true;
  for (int length = 2; length <= 7; length++)
    if (before[8 - length] == 0xFF && (before[9 - length] & 0x38) == 0x10) return true;
  return false;
}

// Back into the program's own code, if the thread has just called another function from there.
static void skip_library(pid_t tid) {
  long stack = stack_of(tid), back = ptrace(PTRACE_PEEKDATA, tid, stack, 0);
  if (!is_own((uintptr_t)back) || !comes_after_call(tid, (uintptr_t)back)) return;
  do run_to(tid, back);
  while (stack_of(tid) <= stack);
}

// True at an instruction that is to be looked at, false if the body has ended.
static bool step(uint32_t index, unsigned instructions) {
  pid_t tid = shared->threads[index].tid;
  while (instructions) {
    if (ptrace(PTRACE_SINGLESTEP, tid, 0, 0)) fail("thread %d cannot be stepped", tid);
    wait_for(tid);
    if (shared->threads[index].ended) {
      ptrace(PTRACE_DETACH, tid, 0, 0);
      return false;
    }
    uintptr_t pc = counter(tid);
    if (is_skipped(pc)) {
      skip(tid);
      pc = counter(tid);
    }
    if (skips_libraries && is_own(left[index].pc) && !is_own(pc)) {
      skip_library(tid);
      pc = counter(tid);
    }
    instructions -= is_own(pc);
    left[index].pc = pc;
  }
  return true;
}

// Two threads may be at one place, but not at two places that are one byte apart.
static bool is_free(uint32_t index) {
  for (uint32_t i = 0; i < index; i++) {
    bool beside = left[i].pc == left[index].pc + 1 || left[i].pc + 1 == left[index].pc;
    if (beside && !shared->threads[i].ended) return false;
  }
  return true;
}

// A jump to itself replaces the instruction that comes next.
static void leave_spinning(uint32_t index) {
  pid_t tid = shared->threads[index].tid;
  left[index].code = ptrace(PTRACE_PEEKTEXT, tid, left[index].pc, 0);
  long jump = (left[index].code & ~0xFFFFl) | 0xFEEB;
  if (ptrace(PTRACE_POKETEXT, tid, left[index].pc, jump)) fail("thread %d cannot be left alone", tid);
}

static void take_back(uint32_t index) {
  pid_t tid = shared->threads[index].tid;
  seize(tid);
  // It may still be on its way back from the handler of the signal that stopped it.
  while (counter(tid) != left[index].pc) {
    if (ptrace(PTRACE_SINGLESTEP, tid, 0, 0)) fail("thread %d cannot be stepped", tid);
    wait_for(tid);
  }
}

static void look(void) {
  wake(&shared->look, 1);
  wait_while(&shared->look, 1);
  looks++;
  if (!shared->found) return;
  reports += shared->found;
  printf("FALSE REPORT: %u objects; threads before", shared->found);
  for (uint32_t i = 0; i < shared->count; i++)
    if (!shared->threads[i].ended) printf(" %u:%#lx", i, left[i].pc - shared->image_low);
  printf(" of the code\n");
}

// Goes on with all of them, and returns how many bodies have not ended.
static unsigned step_all(void) {
  unsigned alive = 0;
  for (uint32_t i = 0; i < shared->count; i++) {
    if (shared->threads[i].ended || !step(i, stride)) continue;
    bool goes_on = true;
    while (goes_on && !is_free(i)) goes_on = step(i, 1);
    alive += goes_on;
  }
  return alive;
}

static void trace(void) {
  for (uint32_t i = 0; i < shared->count; i++) {
    seize(shared->threads[i].tid);
    shared->threads[i].go = 1;
  }
  for (unsigned alive; (alive = step_all());) {
    points += alive;
    for (uint32_t i = 0; i < shared->count; i++)
      if (!shared->threads[i].ended) leave_spinning(i);
    for (uint32_t i = 0; i < shared->count; i++)
      if (!shared->threads[i].ended && ptrace(PTRACE_DETACH, shared->threads[i].tid, 0, 0))
        fail("a thread is stuck");
    look();
    for (uint32_t i = 0; i < shared->count; i++)
      if (!shared->threads[i].ended) take_back(i);
    // What one of them replaced may be what another one had put there.
    for (uint32_t i = shared->count; i-- > 0;)
      if (!shared->threads[i].ended && ptrace(PTRACE_POKETEXT, shared->threads[i].tid, left[i].pc, left[i].code))
        fail("a thread is stuck");
  }
}

int main(int count, char **arguments) {
  if (count > 1 && !strcmp(arguments[1], "--own")) {
    skips_libraries = true;
    arguments++;
    count--;
  }
  if (count < 4) return 64;
  stride = (unsigned)atoi(arguments[1]);
  int memory = memfd_create("stepping", 0);
  if (!stride || memory < 0 || ftruncate(memory, sizeof *shared)) return 64;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (shared == MAP_FAILED) return 70;
  char descriptor[16];
  snprintf(descriptor, sizeof descriptor, "%d", memory);
  program = fork();
  if (program == 0) {
    setenv("STEPPING_TRACED", descriptor, 1);
    setenv("LD_PRELOAD", arguments[2], 1);
    execv(arguments[3], arguments + 3);
    _exit(127);
  }
  read_shared_functions(arguments[3]);
  wait_while(&shared->ready, 0);
  trace();
  wake(&shared->look, 2);
  int status = 0;
  waitpid(program, &status, 0);
  printf("stepping: %u points in %u looks, %u false reports\n", points, looks, reports);
  return status ? 70 : reports ? 1 : 0;
}
