// Lets layers that do not know each other's run loops run them while they wait.
#pragma once
#include "undead_instrument.h"
#include "undead_objects.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Makes `runner` the one that undead_run_current_loop() calls. Thread-safe.
void undead_set_run_loop_runner(undead_run_loop_runner runner);

// Runs the run loop of the calling thread; false if that did not take the time, and the caller should wait otherwise.
bool undead_run_current_loop(int64_t nanoseconds);

#ifdef __cplusplus
}
#endif
