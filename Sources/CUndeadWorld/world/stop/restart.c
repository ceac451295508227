// Calls of the system that a stop has ended are made again, as if nothing had happened.
#include "platform/maps/maps.h"
#include "platform/processor/processor.h"
#include "platform/system/read_text.h"
#include "platform/system/rest_of_time.h"
#include "world/images.h"
#include "world/world.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

static long trace_anew(long request, int32_t tid, uintptr_t address, uintptr_t data) {
  return undead_raw4(SYS_ptrace, request, tid, (long)address, (long)data);
}

// Calls that are not to be made again, whatever they say: the descriptor is gone (close(2)). All others that end with
// EINTR when their thread is stopped have done nothing, and the kernel does not start them again by itself: epoll_wait,
// semop, rt_sigtimedwait, io_getevents, io_uring_enter, those on sockets with a timeout, requests to file systems
// outside of the kernel, and whatever drivers do (signal(7)).
static bool is_done_once(uint64_t number) { return number == SYS_close || number == SYS_close_range; }

static bool read_status(int32_t process, int32_t tid, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/status", process, tid);
  return undead_read_text(path, text, size) > 0;
}

// True if a signal that the thread does not block waits for it. In doubt true.
static bool is_signal_due(const char *status) {
  static const char *const names[] = {"\nSigPnd:\t", "\nShdPnd:\t", "\nSigBlk:\t"};
  uint64_t sets[3];
  for (int i = 0; i < 3; i++) {
    const char *line = strstr(status, names[i]);
    if (!line) return true;
    sets[i] = undead_read_number(line + strlen(names[i]), 16, NULL);
  }
  return ((sets[0] | sets[1]) & ~sets[2]) != 0;
}

static bool has_queued_signal(int32_t tid) {
  for (uint32_t flags = 0; flags <= PTRACE_PEEKSIGINFO_SHARED; flags++) {
    struct __ptrace_peeksiginfo_args which = {.flags = flags, .nr = 1};
    siginfo_t signal;
    if (trace_anew(PTRACE_PEEKSIGINFO, tid, (uintptr_t)&which, (uintptr_t)&signal) != 0) return true;
  }
  return false;
}

// A signal that waits for the thread may have ended the call too, and the program may count on that.
static bool has_pending_signal(const undead_world *world, int32_t tid) {
  char text[4096];
  return has_queued_signal(tid) &&
         (!read_status(world->process, tid, text, sizeof text) || is_signal_due(text));
}

static bool is_behind_system_call(uintptr_t pc) {
  return undead_is_readable(pc - UNDEAD_SYSTEM_CALL_BYTES, UNDEAD_SYSTEM_CALL_BYTES) &&
         undead_is_system_call((const uint8_t *)pc - UNDEAD_SYSTEM_CALL_BYTES);
}

void undead_start_call_again(const undead_world *world, const undead_stopped_thread *thread) {
  struct user_regs_struct registers;
  struct iovec area = {&registers, sizeof registers};
  if (thread->held_signal || trace_anew(PTRACE_GETREGSET, thread->tid, NT_PRSTATUS, (uintptr_t)&area) < 0) return;
  bool ended = (int64_t)registers.rax == -EINTR && (int64_t)registers.orig_rax >= 0;
  if (!ended || is_done_once(registers.orig_rax) || !is_behind_system_call(registers.rip)) return;
  if (has_pending_signal(world, thread->tid)) return;
  uint64_t arguments[] = {registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8};
  undead_take_rest_of_time(thread->tid, (long)registers.orig_rax, undead_is_libc_code(registers.rip), arguments);
  registers.rdi = arguments[0];
  registers.rdx = arguments[2];
  registers.r10 = arguments[3];
  registers.r8 = arguments[4];
  registers.rax = registers.orig_rax;
  registers.rip -= UNDEAD_SYSTEM_CALL_BYTES;   // back to the instruction
  registers.orig_rax = UINT64_MAX;
  trace_anew(PTRACE_SETREGSET, thread->tid, NT_PRSTATUS, (uintptr_t)&area);
}
