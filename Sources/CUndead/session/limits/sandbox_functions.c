// The functions by which a program asks the kernel to change its rules for this process, interposed: what they change
// concerns the instrument, too.
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "platform/system/seccomp.h"
#include "record/reach.h"
#include "session/state/interpose.h"
#include "session/limits/limits.h"
#include "session/state/process.h"
#include "world/helper.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

typedef unsigned long word;
typedef long (*syscall_function)(long, word, word, word, word, word, word);

// Read by the stub that interposes syscall().
syscall_function undead_next_syscall __attribute__((visibility("hidden")));

void undead_sandbox_find_next(void) {
  (void)UNDEAD_NEXT(prctl);
  undead_next_found((void **)&undead_next_syscall, "syscall");
}

bool undead_sandbox_is_unknown(void) { return undead_seccomp_filters() > undead_record_filters_at_start(); }

// Whether the program's filter can be read, as the kernel will.
static bool is_filter(const struct sock_fprog *filter) {
  return undead_pages_are_readable((uintptr_t)filter, sizeof *filter) && filter->len > 0 && filter->len <= BPF_MAXINSNS &&
         undead_pages_are_readable((uintptr_t)filter->filter, filter->len * sizeof *filter->filter);
}

// Before a filter is in force, since nothing may be possible then. True if that concerns this process: in a vfork child the memory
// is the parent's, which the filter does not concern.
static bool stand_aside_for_filter(word mode, word filter) {
  if (undead_session_has_left() || undead_process_now() == UNDEAD_PROCESS_BORROWED) return false;
  if (mode != SECCOMP_MODE_STRICT && !is_filter((const struct sock_fprog *)filter)) return false;
  undead_session_leave("the program put itself into a sandbox (seccomp), which may not allow the system calls of a check");
  return true;
}

static int set_seccomp(word mode, word filter) {
  __typeof__(prctl) *next = UNDEAD_NEXT(prctl);
  bool concerns_us = stand_aside_for_filter(mode, filter);
  int result = next(PR_SET_SECCOMP, mode, filter, 0ul, 0ul);
  if (concerns_us && result != 0) undead_session_return();
  return result;
}

static long call_kernel(long number, word a, word b, word c, word d, word e, word f) {
  long result = undead_raw6(number, (long)a, (long)b, (long)c, (long)d, (long)e, (long)f);
  if (result < 0 && result > -4096) {
    errno = (int)-result;
    return -1;
  }
  return result;
}

static long set_filter(long number, word operation, word flags, word filter) {
  word mode = operation == SECCOMP_SET_MODE_STRICT ? SECCOMP_MODE_STRICT : SECCOMP_MODE_FILTER;
  bool concerns_us = stand_aside_for_filter(mode, filter);
  long result = call_kernel(number, operation, flags, filter, 0, 0, 0);
  // With a listener it returns a descriptor; where threads could not be reached, the first of them.
  bool counts = (flags & SECCOMP_FILTER_FLAG_TSYNC) && !(flags & SECCOMP_FILTER_FLAG_NEW_LISTENER);
  if (concerns_us && (result < 0 || (counts && result > 0))) undead_session_return();
  return result;
}

static int change_sandbox(int option, word first, word second, word third, word fourth) {
  if (option == PR_SET_SECCOMP) return set_seccomp(first, second);
  int result = UNDEAD_NEXT(prctl)(option, first, second, third, fourth);
  if (option == PR_SET_PTRACER && result == 0 && undead_process_now() != UNDEAD_PROCESS_BORROWED)
    undead_helper_note_tracer((long)first);
  return result;
}

// As libc does, it takes four arguments whether they are there or not.
UNDEAD_PUBLIC int prctl(int option, ...) {
  va_list list;
  va_start(list, option);
  word first = va_arg(list, word), second = va_arg(list, word), third = va_arg(list, word), last = va_arg(list, word);
  va_end(list);
  return change_sandbox(option, first, second, third, last);
}

// Called by the stub for the numbers that concern us, and for all before the next function is known.
__attribute__((visibility("hidden"))) long undead_syscall_called(
    long number, word a, word b, word c, word d, word e, word f);
long undead_syscall_called(long number, word a, word b, word c, word d, word e, word f) {
  if (number == SYS_mlockall) return mlockall((int)a);
  if (number == SYS_setrlimit) return setrlimit((__rlimit_resource_t)a, (const struct rlimit *)b);
  if (number == SYS_getrlimit) return getrlimit((__rlimit_resource_t)a, (struct rlimit *)b);
  if (number == SYS_prlimit64)
    return prlimit((__pid_t)a, (enum __rlimit_resource)b, (const struct rlimit *)c, (struct rlimit *)d);
  if (number == SYS_prctl) return change_sandbox((int)a, b, c, d, e);
  if (number == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER))
    return set_filter(number, a, b, c);
  return call_kernel(number, a, b, c, d, e, f);
}
