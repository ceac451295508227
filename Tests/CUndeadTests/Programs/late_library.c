#include <stdlib.h>

__attribute__((noinline)) void *late_make(void) {
  void *block = malloc(99);
  __asm__ volatile("" : "+r"(block));
  return block;
}
