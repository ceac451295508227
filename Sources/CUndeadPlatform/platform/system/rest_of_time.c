// Calls of libc with a relative timeout that the kernel does not count down where the program can see it. Made again as it was after
// each of many checks, such a call would never end. So it gets the rest of its time:
//
//   milliseconds      the argument itself; its upper half, which the kernel ignores, says when they end (see Interruption.swift, too)
//   a timespec        the argument becomes the address of `again[slot].rest`; the program's own is left alone
//
// Both show at the next stop that the call is the same one. When the first stop comes, nobody knows how long the call has waited:
// that time is waited once more, so a call takes less than twice its timeout. Of limits that belong to a socket (SO_RCVTIMEO) nothing
// is known. Who calls: handlers of our signals, and the helper, which has the memory of the program.
#include "platform/system/rest_of_time.h"
#include "platform/system/clock.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "platform/system/thread_slots.h"
#include <linux/futex.h>
#include <string.h>
#include <time.h>

enum { FIRST, SECOND, THIRD, FOURTH, FIFTH };

static const struct {
  short number, timeout;
  bool is_in_milliseconds;   // an `int`
} timed_calls[] = {
  {SYS_poll, THIRD, true},        {SYS_epoll_wait, FOURTH, true}, {SYS_epoll_pwait, FOURTH, true},
  {SYS_nanosleep, FIRST},         {SYS_clock_nanosleep, THIRD},   {SYS_futex, FOURTH},
  {SYS_semtimedop, FOURTH},       {SYS_rt_sigtimedwait, THIRD},   {SYS_io_getevents, FIFTH},
  {441 /* epoll_pwait2 */, FOURTH},
};

typedef struct {
  struct timespec rest;
  int64_t end;
} timed_call;

static timed_call again[UNDEAD_THREAD_SLOTS];

enum { MILLION = 1000000, BILLION = 1000000000 };   // nanoseconds

static int64_t rest_of(const timed_call *call) {
  int64_t rest = call->end - (int64_t)undead_now();
  return rest > 0 ? rest : 0;
}

static void shorten_milliseconds(uint64_t *timeout) {
  enum { LONGEST_STOP = 1 << 20 };
  int32_t whole = (int32_t)*timeout;
  uint32_t end = (uint32_t)(*timeout >> 32), now = (uint32_t)((int64_t)undead_now() / MILLION);
  if (whole <= 0) return;
  int32_t rest = (int32_t)(end - now);
  if (!end || rest > whole || rest < -LONGEST_STOP) end = now + (uint32_t)whole, rest = whole;   // not stopped before
  *timeout = (uint64_t)(end ? end : 1) << 32 | (uint32_t)(rest > 0 ? rest : 0);
}

static void shorten_timespec(timed_call *call, uint64_t *timeout) {
  enum { MOST_SECONDS = 1 << 30 };
  if (*timeout != (uint64_t)&call->rest) {
    struct timespec whole;
    if (!*timeout || !undead_pages_are_readable(*timeout, sizeof whole)) return;
    memcpy(&whole, (const void *)*timeout, sizeof whole);
    if (whole.tv_sec < 0 || whole.tv_sec > MOST_SECONDS || whole.tv_nsec < 0 || whole.tv_nsec >= BILLION) return;
    call->end = (int64_t)undead_now() + whole.tv_sec * (int64_t)BILLION + whole.tv_nsec;
    *timeout = (uint64_t)&call->rest;
  }
  int64_t rest = rest_of(call);
  call->rest = (struct timespec){.tv_sec = rest / BILLION, .tv_nsec = rest % BILLION};
}

// False for those that wait until a time, and for those with which a program asks for the rest, which the kernel has just written.
static bool is_ours_to_count(long number, const uint64_t *arguments) {
  if (number == SYS_nanosleep) return !arguments[SECOND];
  if (number == SYS_clock_nanosleep) return !(arguments[SECOND] & TIMER_ABSTIME) && !arguments[FOURTH];
  return number != SYS_futex || (arguments[SECOND] & FUTEX_CMD_MASK) == FUTEX_WAIT;
}

void undead_take_rest_of_time(int32_t tid, long number, bool in_libc, uint64_t arguments[5]) {
  bool relative = number == SYS_clock_nanosleep && !(arguments[SECOND] & TIMER_ABSTIME);
  if (number == SYS_nanosleep && arguments[SECOND]) arguments[FIRST] = arguments[SECOND];
  if (relative && arguments[FOURTH]) arguments[THIRD] = arguments[FOURTH];
  for (size_t i = 0; in_libc && i < sizeof timed_calls / sizeof *timed_calls; i++) {
    if (timed_calls[i].number != number || !is_ours_to_count(number, arguments) ) continue;
    uint64_t *timeout = &arguments[timed_calls[i].timeout];
    int slot = timed_calls[i].is_in_milliseconds ? -1 : undead_thread_slot(tid);
    if (timed_calls[i].is_in_milliseconds) shorten_milliseconds(timeout);
    else if (slot >= 0) shorten_timespec(&again[slot], timeout);
  }
}
