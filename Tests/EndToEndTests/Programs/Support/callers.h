// Functions of C under names that Swift's compiler and runtime have functions of, too. Each keeps the address of an object in a
// variable of its own, and nowhere else, while Swift code that it calls waits.
#pragma once
#include "scan.h"

typedef void *(*object_maker)(void);
typedef void (*waiting_code)(void);
typedef void (*object_end)(void *);

// The registers that functions preserve hold it, and the frames of what is called.
#define CALLER(name)                                                                                                         \
  static inline __attribute__((noinline, used)) void name(object_maker make, waiting_code wait, object_end end) {            \
    void *object = make();                                                                                                   \
    __asm__ volatile("" : "+r"(object));                                                                                     \
    wait();                                                                                                                  \
    end(object);                                                                                                             \
  }

CALLER(worker_main)
CALLER(App_main)
CALLER(async_Main)
CALLER(swift_session_run)
CALLER(_swift_session_run)
CALLER(undead_session_run)
CALLER(_start_session)
