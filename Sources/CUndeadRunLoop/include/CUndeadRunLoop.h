// What a run loop needs of Linux and of the Swift runtime and that Swift cannot reach: epoll, eventfd, timerfd, timer
// slack, signal handlers, futexes, and the reference counting that survives the death of an object.
#pragma once
#if defined(__linux__) && __has_include(<gnu/libc-version.h>)  // glibc
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// Nanoseconds of CLOCK_MONOTONIC, CLOCK_REALTIME and CLOCK_BOOTTIME.
static inline int64_t undead_loop_monotonic(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}
static inline int64_t undead_loop_realtime(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}
static inline int64_t undead_loop_boottime(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// Starts to load the memory that a timer takes (two cache lines), to be changed soon.
static inline void undead_loop_prefetch(const void *object) {
  enum { cache_line = 64 };
  __builtin_prefetch(object, 1);
  __builtin_prefetch((const char *)object + cache_line, 1);
}

// A number of the calling thread that no other thread of the process has or will have. A system call for the thread id
// costs twenty times more, and reports a number that later threads get again.
uintptr_t undead_loop_thread(void);
// The kernel's id of the calling thread.
int32_t undead_loop_thread_id(void);

// Cut to 15 bytes.
void undead_loop_set_thread_name(const char *name);
// Writes the calling thread's name (16 bytes); false if it is that of the main thread, which others inherit.
bool undead_loop_has_thread_name(char *name);

// The loop object of the calling thread. `ended` runs when the thread ends with a loop still set.
void *undead_loop_current(void);
void undead_loop_set_current(void *loop, void (*ended)(void *loop));

// The loop that runs on the calling thread now, if any.
void *undead_loop_running(void);
void undead_loop_set_running(void *loop);

// Sleep while *word == expected; wake one sleeper.
void undead_loop_futex_wait(const void *word, uint32_t expected);
void undead_loop_futex_wake(const void *word);

#define UNDEAD_LOOP_READABLE 1u
#define UNDEAD_LOOP_WRITABLE 2u
#define UNDEAD_LOOP_HANGUP 4u   // also error: the descriptor will not become ready again

typedef struct {
  uint64_t token;
  uint32_t conditions;
  uint32_t wait;  // the number of the wait that it ended, of all waits of the process
} undead_loop_event;

// How many waits of any loop have ended.
uint32_t undead_loop_waits(void);

// Each returns a descriptor, or -errno.
int undead_loop_poll_create(void);
int undead_loop_wake_create(void);
int undead_loop_timer_create(clockid_t clock);
// 0, or -errno. `conditions` of 0 removes the descriptor.
int undead_loop_poll_set(int poll, int descriptor, uint32_t conditions, uint64_t token, bool known);
// What `descriptor` is ready for now.
uint32_t undead_loop_ready(int descriptor, uint32_t conditions);
// Waits at most `nanoseconds` (negative: without limit). Returns the number of events, 0 also when interrupted.
int undead_loop_poll_wait(int poll, undead_loop_event *events, int capacity, int64_t nanoseconds);
// Sets the descriptor readable at `nanoseconds` of its clock, or so much later than now if `relative`; INT64_MAX: never.
void undead_loop_timer_set(int timer, int64_t nanoseconds, bool relative);
// Becomes readable when somebody sets the wall clock. 0, or -errno.
int undead_loop_timer_watch_clock(int timer);
void undead_loop_wake(int wake);
void undead_loop_drain(int wake);
void undead_loop_close(int descriptor);
// A number of the file behind a descriptor, 0 if it is closed. Files without an inode of their own share one.
uint64_t undead_loop_file(int descriptor);
// Precision of the calling thread's timeouts: the kernel's default of 50 us is most of the lateness of a short timer.
void undead_loop_set_timer_slack(long nanoseconds);

// A number of this process, never 0; a child that was forked has another. A child's child, too.
uint32_t undead_loop_process(void);
// Whether this is that process; safe in signal handlers.
bool undead_loop_is_process(uint32_t process);
void undead_loop_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));
// Gives `replacement` the number of `descriptor`, whose file is let go of, if that still is a file of the same kind.
// Returns the number that `replacement` has then.
int undead_loop_replace(int descriptor, int replacement);

// A descriptor that becomes readable each time `signal` arrives, or -errno. Each descriptor is independent. Signals that
// report a fault of the program are refused with EINVAL: they would be raised again and again.
int undead_loop_signal_open(int signal);
void undead_loop_signal_close(int signal, int descriptor);
// Makes a descriptor that a child inherited the child's own. Returns its number, which may have changed, or -errno.
int undead_loop_signal_adopt(int signal, int descriptor);

// Return addresses of the caller, innermost first. Returns how many.
int undead_loop_backtrace(uintptr_t *frames, int capacity);
// The same of another thread, by a signal: an interrupted system call of that thread may return EINTR.
int undead_loop_backtrace_of(int32_t thread_id, uintptr_t *frames, int capacity, int64_t timeout);

// Lets the calling thread answer: threads that Dispatch started, or their children, block all signals.
void undead_loop_allow_backtrace(void);

// True if the object is alive; it was then retained. An unowned reference keeps the header of a dead object, so that
// this can tell.
bool undead_loop_try_retain(void *object);

// Dispatch's main queue: a descriptor that is readable when it has work, and what does that work.
int undead_loop_main_queue_descriptor(void);
void undead_loop_main_queue_drain(void);
// Whether the calling thread is the process's first.
bool undead_loop_is_main_thread(void);
#endif
