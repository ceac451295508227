// System calls in the name of another user, and by a descriptor of a process: what a tracer needs that glibc has no function for.
#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "undead_identity.h"
#include "platform/system/unread.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

// Kernels before 5.1, 5.3 and 5.6 have no such calls, and headers before them no numbers.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

// libc's functions change the rights of all threads, the system calls those of the calling one.
static long ask_file_user(void) { return syscall(SYS_setfsuid, -1L); }
static long ask_file_group(void) { return syscall(SYS_setfsgid, -1L); }

static int use(uid_t user, gid_t group, const gid_t *groups, size_t count) {
  if (syscall(SYS_setgroups, count, groups) != 0) return -errno;
  syscall(SYS_setfsgid, (long)group);
  syscall(SYS_setfsuid, (long)user);
  // They do not say whether they succeeded.
  return (gid_t)ask_file_group() == group && (uid_t)ask_file_user() == user ? 0 : -EPERM;
}

int undead_trace_use_files_as(uid_t user, gid_t group, const gid_t *groups, size_t count) {
  uid_t own_user = (uid_t)ask_file_user();
  gid_t own_group = (gid_t)ask_file_group(), own_groups[NGROUPS_MAX];
  int own_count = getgroups(NGROUPS_MAX, own_groups);
  if (own_count < 0) return -errno;
  // In this order, since without root's rights to files the groups can be changed still, and back.
  int result = use(user, group, groups, count);
  if (result != 0 && use(own_user, own_group, own_groups, (size_t)own_count) != 0 &&
      ((uid_t)ask_file_user() != own_user || (gid_t)ask_file_group() != own_group))
    abort();
  return result;
}

int undead_trace_process(pid_t pid) {
  long descriptor = syscall(SYS_pidfd_open, pid, 0);
  return descriptor < 0 ? -errno : (int)descriptor;
}

int undead_trace_signal(int process, int signal) {
  return syscall(SYS_pidfd_send_signal, process, signal, NULL, 0) != 0 ? -errno : 0;
}

bool undead_trace_keeps_unread(int process, int file) {
  int own = (int)syscall(SYS_pidfd_getfd, process, file, 0);
  bool keeps = own >= 0 && (undead_is_pipe(own) || undead_is_local_socket(own));
  if (own >= 0) close(own);
  return keeps;
}

size_t undead_trace_unread(int process, int file, char *bytes, size_t room, bool *more) {
  int own = (int)syscall(SYS_pidfd_getfd, process, file, 0);
  *more = false;
  size_t count = own < 0 ? 0 : undead_unread_bytes(own, bytes, room, more);
  if (own >= 0) close(own);
  return count;
}
#endif
