// What stops a program at its calls, and what it shows about that. x86-64.
#pragma once
#include "traced.h"
#include <stdbool.h>
#include <stdint.h>

// A call that the compiler cannot look into.
void stepping_call(void);
// C code of the program that waits, with a context that it alone has meanwhile.
int callee_wait_then(void *context, void (*done)(void *), int result);
// The same, which calls back again and again; the callbacks wait.
void callee_repeat(void *context, int (*step)(void *), int count);

// From now on calls that the main image makes to other images can be stopped; false if they cannot be found.
bool stepping_open(void);
// Whether threads, except for the one that says so, are to stop; of the calls to the runtime only each `stride`th one.
void stepping_arm(bool armed, uint32_t stride);
// Lets all threads that stand go on to their next calls, until they stand there, have none, or wait for others. Returns
// the number of those that stand; `alive` threads are expected to get to a call.
uint32_t stepping_advance(uint32_t alive);
// Which call a thread stands at: the import, and the address in the image that it returns to; false if there is no such
// thread.
bool stepping_describe(uint32_t thread, char *text, uint32_t size);

// Under the tracer (tracer.c): the memory that is shared with it, NULL if there is none.
stepping_traced *stepping_shared(void);
// Called by a thread, with the number of its body: waits until it is traced; afterwards says that the body has ended.
void stepping_begin_traced(uint32_t index);
void stepping_end_traced(uint32_t index);
// Once all threads wait: looks whenever the tracer asks for it. No code of the program runs here: its instructions
// change.
void stepping_serve(void);
