// Compiled without unwind tables, with a frame pointer, as some functions of the toolchain's libraries are.
#include <stddef.h>

static __attribute__((noinline)) void bare_inner(void (*call)(size_t), size_t size) {
  volatile size_t local = size;
  call(local);
  local++;
}

void bare_outer(void (*call)(size_t), size_t size) {
  volatile size_t local = size;
  bare_inner(call, local);
  call(local);
  local++;
}
