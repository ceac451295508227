// The program itself: scans, what the kernel refuses it, memory.
#define _GNU_SOURCE
#include "program.h"
#include "threads.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma weak undead_test_scan

volatile bool stopped;

// The test runner starts this program from a thread that blocks signals, and children inherit that.
__attribute__((constructor)) static void unblock_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

undead_test_scan_counts scan_now(bool copy, bool suspects, const void *watched) {
  undead_test_scan_counts counts;
  if (!undead_test_scan) abort();
  undead_test_scan(copy, suspects, watched, &counts);
  return counts;
}

void deny_ptrace(bool kill) {
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, kill ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)) abort();
}

void deny_threads(thread_filter how) {
  static const uint32_t actions[] = {SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_TRAP, SECCOMP_RET_KILL_PROCESS};
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, actions[how]),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)) abort();
}

void *block_with_hole(void) {
  enum { BYTES = 1 << 20, PAGE = 4096 };
  char *block = malloc(BYTES), *page = (char *)(((uintptr_t)block + BYTES / 2) & ~(uintptr_t)(PAGE - 1));
  int file = memfd_create("empty", 0);
  if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != page) abort();
  close(file);
  return block;
}

pthread_t start(void *(*body)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, argument)) abort();
  return thread;
}

void *map_memory(size_t bytes, bool shared) {
  int flags = MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE);
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) abort();
  return memory;
}
