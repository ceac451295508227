// Run loops of the layers above, for code that waits on the calling thread for objects to be released.
#pragma once
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Runs what the run loop of the calling thread has to do until `seconds` have passed, and returns early when something
// was done. Returns false, at once, if this thread has no run loop that could be run now.
typedef bool (*undead_run_loop_pump)(double seconds);

// Sets the pump; NULL takes it away. Thread-safe.
void undead_set_run_loop_pump(undead_run_loop_pump pump);

// Calls the pump; false if there is none.
bool undead_pump_run_loop(double seconds);

#ifdef __cplusplus
}
#endif
