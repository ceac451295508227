// What the Swift files need of C.
#pragma once
#include "../../../EndToEndTests/Programs/Support/waiting.h"
#include "undead_tests.h"
#include <pthread.h>

// Scans this process with the preloaded library.
undead_test_scan_counts scan_now(bool copy, bool suspects, const void *watched);

// Makes ptrace fail with EPERM (`kill` false), or kill its caller.
void deny_ptrace(bool kill);
// Makes clone fail, trap or kill its caller when it asks for a thread.
typedef enum { THREADS_FAIL, THREADS_TRAP, THREADS_KILL } thread_filter;
void deny_threads(thread_filter filter);
// A block with a page that cannot be read although it looks as if it could.
void *block_with_hole(void);
// Starts a thread that kills every child process of this one, and ends it.
void start_killer(void);
void stop_killer(void);
// Starts a thread that holds a block only on its interrupted stack while it runs a handler on another one.
void start_thread_on_other_stack(void *block);
// Starts a thread that waits in vfork until another one, which must run meanwhile, has slept 50 times for a moment; how
// long that took.
void start_vfork(void);
long microseconds_watched(void);
// Starts a thread that blocks every signal until another one has slept 50 times.
void start_blocking(void);
// A thread that allocates all the time, blocks every signal, and holds a reference in a register only.
void start_allocating_thread(uintptr_t disguised);

// Starts threads that send signals to each other and sleep; `check_signals` ends them and returns the number of
// signals that were lost or came twice, plus the sleeps that ended early without a signal.
void start_signals(void);
long check_signals(void);

// Starts `count` threads, one after the other, that get `argument(i)` and end at once.
void run_short_threads(int count, void *(*argument)(int));
// Starts a thread that frees the blocks, allocates nothing, and ends, and keeps it where it does: for a moment, or for ever.
pthread_t start_ending_thread(void **blocks, size_t count, bool waits);
// Starts a thread that holds a block only in a thread-specific value, another only in a register.
void start_thread_with_value(void *block);
// What the processor does not have counts as VECTOR.
enum register_kind { GENERAL_REGISTER = 1, VECTOR, UPPER_VECTOR, WIDE_VECTOR, FURTHER_VECTOR };
void start_thread_with_register(void *block, enum register_kind kind);
// Starts a thread that holds a block only in thread-local storage that malloc gave to the dynamic loader.
void start_thread_with_dynamic_value(void *block);
// Starts a thread that has a disguised reference in a register, waits, and after `switch_to_fiber` waits on another stack.
void start_fiber(uintptr_t reference);
void switch_to_fiber(void);
// Starts threads in calls with a timeout, and prints which of them have ended, and which too early.
void start_timeouts(void);
bool timeouts_have_ended(void);
void print_timeouts(void);
// Memory of no allocator, private or shared.
void *map_memory(size_t bytes, bool shared);
long run_time_of_nanosleep(long nanoseconds);
