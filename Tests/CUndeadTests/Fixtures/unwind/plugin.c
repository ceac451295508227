// Compiled twice with frames of different size (24 and 40) but code of the same length: when the second is mapped where
// the first was, the same return addresses need other rules.
#include <stddef.h>

#ifndef FRAME
#define FRAME 24
#endif

static __attribute__((noinline)) void inner(void (*call)(size_t)) {
  volatile char frame[FRAME];
  frame[0] = 1;
  call(FRAME);
  frame[0]++;
}

void run(void (*call)(size_t)) {
  volatile char frame[FRAME * 2];
  frame[0] = 1;
  inner(call);
  call(16);
  frame[0]++;
}
