// What the program and its tracer tell each other, in memory that both have.
#pragma once
#include <stdint.h>

enum { STEPPING_MOST_TRACED = 64, STEPPING_SKIPPED = 8 };

typedef struct {
  uint32_t look;                     // a futex: 1 asks the program for a look, 2 says that there is nothing left to do
  uint32_t ready;                    // a futex: the program has its threads waiting
  uint32_t found;                    // by the look
  uint32_t count;
  uintptr_t image, image_low, image_high;   // where the program lies, and its code
  uintptr_t skipped[STEPPING_SKIPPED];   // functions that take many steps, and call no code of the program
  struct {
    uint32_t go;                     // a futex: 1 starts the body
    uint32_t ended;
    int32_t tid;
  } threads[STEPPING_MOST_TRACED];
} stepping_traced;
