// C code of the program, whose own calls stop as well.
#include "stepping.h"

int callee_wait_then(void *context, void (*done)(void *), int result) {
  stepping_call();
  done(context);
  return result;
}

void callee_repeat(void *context, int (*step)(void *), int count) {
  while (count-- > 0) step(context);
}
