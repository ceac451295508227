#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "session/sandbox.h"
#include "platform/memory.h"
#include "platform/seccomp.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

typedef struct {
  uint16_t number;
  uint64_t arguments[6];
  bool may_fail;      // it is done without, or another way
  int only_with;      // it may fail with this error only
} call;

#define THREAD_FLAGS                                                                                          \
  (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |           \
   CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)
#define HELPER_FLAGS (CLONE_VM | CLONE_FS | CLONE_UNTRACED | CLONE_CHILD_CLEARTID)
#define MEMORY_FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#define FILE_FLAGS (O_RDWR | O_CLOEXEC | O_NOFOLLOW)

// What recording, a check and its helper call, with the arguments that a filter may look at. Pointers are 0: a filter
// cannot look behind them.
static const call calls[] = {
    {SYS_mmap, {0, 1 << 20, PROT_READ | PROT_WRITE, MEMORY_FLAGS, -1, 0}},
    {SYS_mmap, {0, 1 << 20, PROT_NONE, MEMORY_FLAGS, -1, 0}},
    {SYS_mmap, {0, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0}},
    {SYS_mmap, {0, 1 << 12, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0}},
    {SYS_mmap, {0, 1 << 12, PROT_READ, MAP_PRIVATE, 3, 0}},
    {SYS_mprotect, {0, 1 << 12, PROT_NONE}},
    {SYS_mprotect, {0, 1 << 12, PROT_READ | PROT_WRITE}},
    {SYS_madvise, {0, 1 << 12, MADV_NOHUGEPAGE}, .may_fail = true},
    {SYS_madvise, {0, 1 << 12, MADV_DONTNEED}, .may_fail = true},
    {SYS_madvise, {0, 1 << 16, UNDEAD_MADV_POPULATE_WRITE}, .may_fail = true},
    {SYS_munmap, {0}},
    {SYS_brk, {0}},
    {SYS_futex, {0, FUTEX_WAIT | FUTEX_PRIVATE_FLAG}},
    {SYS_futex, {0, FUTEX_WAKE | FUTEX_PRIVATE_FLAG}},
    {SYS_futex, {0, FUTEX_WAIT}},
    {SYS_futex, {0, FUTEX_WAKE}},
    {SYS_sched_yield, {0}},
    {SYS_sched_getaffinity, {0}, .may_fail = true},
    {SYS_nanosleep, {0}},
    {SYS_clock_gettime, {1}},
    {SYS_getpid, {0}},
    {SYS_getppid, {0}},
    {SYS_gettid, {0}},
    {SYS_prlimit64, {0}},
    {SYS_rt_sigaction, {15}},
    {SYS_rt_sigprocmask, {2}},
    {SYS_rt_sigprocmask, {UNDEAD_NO_SIGNAL_CHANGE}, .may_fail = true},
    {SYS_rt_sigpending, {0}, .may_fail = true},
    {SYS_rt_sigreturn, {0}},
    {SYS_sigaltstack, {0}, .may_fail = true},
    {SYS_kill, {2, 9}, .may_fail = true},
    {SYS_tgkill, {2, 2, 15}},
    {SYS_rt_tgsigqueueinfo, {2, 2, 27}, .may_fail = true},
    {SYS_clone3, {0, 88}, .only_with = ENOSYS},
    {SYS_clone, {THREAD_FLAGS}},
    {SYS_clone, {HELPER_FLAGS}},
    {SYS_clone, {HELPER_FLAGS | CLONE_FILES}, .may_fail = true},
    {SYS_clone, {CLONE_UNTRACED}},
    {SYS_set_robust_list, {0}, .may_fail = true},
    {SYS_rseq, {0}, .may_fail = true},
    {SYS_wait4, {0, 0, 0x40000000}},
    {SYS_exit, {0}},
    {SYS_exit_group, {0}},
    {SYS_prctl, {PR_SET_PDEATHSIG, 9}, .may_fail = true},
    {SYS_prctl, {PR_SET_PTRACER, 2}, .may_fail = true},
    {SYS_close_range, {0, ~0u, 2}, .may_fail = true},
    {SYS_close_range, {0, ~0u, 0}, .may_fail = true},
    {SYS_close_range, {INT32_MAX, ~0u, 2}, .may_fail = true},
    {SYS_openat, {AT_FDCWD, 0, O_RDONLY | O_CLOEXEC}},
    {SYS_openat, {AT_FDCWD, 0, O_RDONLY | O_DIRECTORY | O_CLOEXEC}},
    {SYS_openat, {AT_FDCWD, 0, FILE_FLAGS | O_CREAT | O_EXCL, 0600}},
    {SYS_openat, {AT_FDCWD, 0, FILE_FLAGS | O_NONBLOCK | O_NOCTTY}},
    {SYS_getdents64, {3}},
    {SYS_newfstatat, {3}},
    {SYS_fallocate, {3}, .may_fail = true},
    {SYS_ioctl, {3}, .may_fail = true},
    {SYS_read, {3}},
    {SYS_pread64, {3}},
    {SYS_lseek, {3}, .may_fail = true},
    {SYS_mincore, {0}, .may_fail = true},
    {SYS_statfs, {0}, .may_fail = true},
    {SYS_sysinfo, {0}, .may_fail = true},
    {SYS_process_vm_readv, {2}, .may_fail = true},
    {SYS_readlinkat, {3}, .may_fail = true},
    {SYS_pidfd_open, {2}, .may_fail = true},
    {SYS_pidfd_getfd, {3}, .may_fail = true},
    {SYS_eventfd2, {0}, .may_fail = true},
    {SYS_epoll_ctl, {3, EPOLL_CTL_DEL}, .may_fail = true},
    {SYS_write, {3}},
    {SYS_pwrite64, {3}},
    {SYS_close, {3}},
#ifdef SYS_access
    {SYS_access, {0}, .may_fail = true},
    {SYS_readlink, {0}, .may_fail = true},
    {SYS_rename, {0}},
    {SYS_unlink, {0}, .may_fail = true},
#else
    {SYS_faccessat, {AT_FDCWD}, .may_fail = true},
    {SYS_readlinkat, {AT_FDCWD}, .may_fail = true},
    {SYS_renameat, {AT_FDCWD}},
    {SYS_unlinkat, {AT_FDCWD}, .may_fail = true},
#endif
};

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

typedef struct {
  const struct sock_filter *program;
  uint32_t length;
} filter;

static uint32_t action_for(const filter *filter, const call *call) {
  struct seccomp_data data = {.nr = call->number, .arch = ARCHITECTURE};
  data.instruction_pointer = (uintptr_t)calls;
  for (int i = 0; i < 6; i++) data.args[i] = call->arguments[i];
  return undead_seccomp_run(filter->program, filter->length, &data);
}

static bool is_allowed(const filter *filter, const call *call) {
  uint32_t action = action_for(filter, call) & SECCOMP_RET_ACTION_FULL;
  return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

static bool is_harmless(const filter *filter, const call *call) {
  if (is_allowed(filter, call)) return true;
  uint32_t action = action_for(filter, call);
  if ((action & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ERRNO) return false;
  return call->may_fail || (call->only_with && (action & SECCOMP_RET_DATA) == (uint32_t)call->only_with);
}

undead_sandbox_kind undead_sandbox_judge(const struct sock_filter *program, uint32_t length) {
  filter filter = {program, length};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (!is_harmless(&filter, &calls[i])) return UNDEAD_SANDBOX_HARMFUL;
  return is_allowed(&filter, &(call){.number = SYS_ptrace}) ? UNDEAD_SANDBOX_HARMLESS : UNDEAD_SANDBOX_NO_TRACING;
}
#endif
