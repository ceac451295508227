// What a thread of a living program runs for the tool (undead_live.h): copied into the program, so it depends on no address.
#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "undead_live.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>


// All of it lies in one function in a section of its own, calls nothing but what it is given, and has no constants in
// other sections.
#define PART static inline __attribute__((always_inline))

// Linux (include/uapi/linux/memfd.h).
#define CLOSE_ON_EXEC 1u
#define EXECUTABLE 16u
#define NOT_KNOWN (-22)

PART long system_call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

PART uint64_t nanoseconds(void) {
  struct timespec now;
  system_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

PART void append_number(volatile char *text, long number) {
  while (*text) text++;
  long unit = 1;
  while (number / unit >= 10) unit *= 10;
  for (; unit > 0; unit /= 10) *text++ = (char)('0' + number / unit % 10);
  *text = 0;
}

PART void copy_text(volatile char *to, uint64_t room, const volatile char *from) {
  uint64_t length = 0;
  for (; from && from[length] && length + 1 < room; length++) to[length] = from[length];
  to[length] = 0;
}

PART int fail(undead_live_call *call, undead_live_step step, long code) {
  call->failed_step = step;
  call->result = code;
  return 0;
}

PART int write_library(undead_live_call *call, long file) {
  for (uint64_t done = 0; done < call->library_bytes;) {
    long count = system_call(SYS_write, file, (long)(call->library + done), (long)(call->library_bytes - done));
    if (count <= 0) return fail(call, UNDEAD_LIVE_WRITE, -count);
    done += (uint64_t)count;
  }
  return 1;
}

PART int open_library(undead_live_call *call) {
  long file = system_call(SYS_memfd_create, (long)call->file_name, CLOSE_ON_EXEC | EXECUTABLE, 0);
  if (file == NOT_KNOWN) file = system_call(SYS_memfd_create, (long)call->file_name, CLOSE_ON_EXEC, 0);
  if (file < 0) return fail(call, UNDEAD_LIVE_FILE, -file);
  int opened = write_library(call, file);
  if (opened) {
    append_number((char *)call->path, file);
    void *library = ((void *(*)(const char *, int))call->dlopen)((const char *)call->path, 2 /* RTLD_NOW */);
    if (library)
      call->function = (uint64_t)((void *(*)(void *, const char *))call->dlsym)(library, (const char *)call->symbol);
    if (!call->function) {
      opened = fail(call, library ? UNDEAD_LIVE_SYMBOL : UNDEAD_LIVE_OPEN, 0);
      copy_text(call->message, sizeof call->message, ((char *(*)(void))call->dlerror)());
    }
  }
  system_call(SYS_close, file, 0, 0);
  return opened;
}

__attribute__((section("undead_live"), used, noreturn, no_stack_protector)) void undead_live_run(undead_live_call *given) {
  undead_live_call *call = given;
  volatile uint64_t *cancelled = &call->cancelled;
  int *error = ((int *(*)(void))call->errno_location)(), saved = *error;
  if (call->function || open_library(call)) {
    if (*cancelled) fail(call, UNDEAD_LIVE_LATE, 0);
    else call->result = ((int (*)(void *))call->function)((void *)call->request);
  }
  *error = saved;
  __atomic_store_n(&call->ended, 1, __ATOMIC_SEQ_CST);
  // Not a sleep: an interrupted one would take the place of the program's own, which is to go on.
  uint64_t end = nanoseconds() + call->patience;
  while (nanoseconds() < end) system_call(SYS_sched_yield, 0, 0, 0);
  __asm__ volatile(
      "movq %0, %%rsp\n"
      "jmp *%1\n"
      :
      : "r"(call->frame), "r"(call->system_call), "a"(SYS_munmap), "D"(call->region), "S"(call->region_bytes)
      : "memory");
  __builtin_unreachable();
}

extern const uint8_t __start_undead_live[], __stop_undead_live[];

const uint8_t *undead_live_code(size_t *size) {
  *size = (size_t)(__stop_undead_live - __start_undead_live);
  return __start_undead_live;
}

#endif
