// Prints how many instructions a malloc and a free take: `steps BYTES`. The processor stops behind each of them (the trap flag).
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t steps;

static void on_step(int signal) { (void)signal, steps++; }

static inline void trap(int on) {
  uint64_t flags;
  __asm__ volatile("pushfq\n popq %0" : "=r"(flags));
  flags = on ? flags | 0x100 : flags & ~0x100ull;
  __asm__ volatile("pushq %0\n popfq" : : "r"(flags) : "cc", "memory");
}

static void *volatile block;

static void once(size_t size) {
  block = malloc(size);
  free(block);
}

static void nothing(size_t size) { (void)size; }

static int count(void (*volatile function)(size_t), size_t size) {
  steps = 0;
  trap(1);
  function(size);
  trap(0);
  return steps;
}

int main(int argc, char **argv) {
  size_t size = argc > 1 ? (size_t)atol(argv[1]) : 48;
  struct sigaction action = {.sa_handler = on_step};
  sigaction(SIGTRAP, &action, NULL);
  for (int i = 0; i < 1000; i++) once(size);   // what is looked up is known, and lists are filled
  int least = count(once, size);
  for (int i = 0; i < 10; i++) {
    int steps = count(once, size);
    if (steps < least) least = steps;
  }
  printf("%d\n", least - count(nothing, size));
}
