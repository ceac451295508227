// Filters of system calls (seccomp), for programs that shut themselves in.
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// What becomes of a system call.
static const uint32_t kill_process = SECCOMP_RET_KILL_PROCESS, trap = SECCOMP_RET_TRAP, fail = SECCOMP_RET_ERRNO | 1,
                      allow = SECCOMP_RET_ALLOW;

static struct {
  struct sock_filter code[128];
  struct sock_fprog program;
} filter = {0};   // a definition: Swift emits no tentative ones

static inline void add_to_filter(uint16_t code, uint8_t otherwise, uint32_t value) {
  filter.code[filter.program.len++] = (struct sock_filter){code, 0, otherwise, value};
}

static inline void list_in_filter(const uint32_t *calls, size_t count, uint32_t answer) {
  for (size_t i = 0; i < count; i++) {
    add_to_filter(BPF_JMP | BPF_JEQ | BPF_K, 1, calls[i]);
    add_to_filter(BPF_RET | BPF_K, 0, answer);
  }
}

static inline void begin_filter(void) {
  filter.program = (struct sock_fprog){0, filter.code};
  add_to_filter(BPF_LD | BPF_W | BPF_ABS, 0, offsetof(struct seccomp_data, nr));
}

// Kills the process for this system call, and allows all others.
static inline const struct sock_fprog *filter_against(uint32_t call) {
  begin_filter();
  list_in_filter(&call, 1, kill_process);
  add_to_filter(BPF_RET | BPF_K, 0, allow);
  return &filter.program;
}

// Allows what a program needs that only computes and writes, and `count` more, and answers `others` for all others.
static inline const struct sock_fprog *narrow_filter(const uint32_t *more, size_t count, uint32_t others) {
  static const uint32_t least[] = {SYS_read,   SYS_write, SYS_close,        SYS_fstat,   SYS_mmap, SYS_mprotect,
                                   SYS_munmap, SYS_brk,   SYS_rt_sigreturn, SYS_madvise, SYS_exit, SYS_futex,
                                   SYS_exit_group};
  begin_filter();
  list_in_filter(least, sizeof least / sizeof *least, allow);
  list_in_filter(more, count, allow);
  add_to_filter(BPF_RET | BPF_K, 0, others);
  return &filter.program;
}

// Without it only root may set filters.
static inline void renounce_privileges(void) { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

static inline int set_filter(const struct sock_fprog *filter) {
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0);
}

// From then on reading, writing and ending are all that is allowed.
static inline int set_strict_mode(void) { return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0); }

static inline long set_filter_by_system_call(unsigned flags, const struct sock_fprog *filter) {
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, filter);
}
