// What the run loop needs of Linux and C alone: epoll sets, eventfds, timerfds, futexes, the current thread, and which loop it
// runs.
#if defined(__linux__) && __has_include(<gnu/libc-version.h>)  // glibc
#define _GNU_SOURCE
#include "CUndeadRunLoop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441  // the same on every processor; missing from older kernel headers
#endif

static _Thread_local uint64_t thread_number;
static _Atomic uint64_t thread_count;
static _Atomic uint32_t wait_count;
static _Thread_local void *current_loop;
static _Thread_local void *running_loop;
static _Thread_local void (*current_loop_ended)(void *);
static pthread_key_t thread_end_key;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

uintptr_t undead_loop_thread(void) {
  if (thread_number == 0) thread_number = atomic_fetch_add_explicit(&thread_count, 1, memory_order_relaxed) + 1;
  return (uintptr_t)thread_number;
}

int32_t undead_loop_thread_id(void) { return (int32_t)syscall(SYS_gettid); }

void undead_loop_set_thread_name(const char *name) { prctl(PR_SET_NAME, name); }

bool undead_loop_has_thread_name(char *name) {
  enum { name_bytes = 16 };  // with the terminating zero, as prctl has it
  char main_name[name_bytes] = "";
  prctl(PR_GET_NAME, name);
  int file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? 0 : read(file, main_name, sizeof main_name);
  if (file >= 0) close(file);
  if (length <= 0) return false;
  main_name[length - 1] = 0;  // the line's end
  return name[0] && strcmp(name, main_name) != 0;
}

bool undead_loop_is_main_thread(void) { return syscall(SYS_gettid) == getpid(); }

static void thread_end(void *unused) {
  (void)unused;
  void *loop = current_loop;
  current_loop = NULL;
  if (loop && current_loop_ended) current_loop_ended(loop);
}

static void make_thread_end_key(void) { pthread_key_create(&thread_end_key, thread_end); }

void *undead_loop_current(void) { return current_loop; }

void *undead_loop_running(void) { return running_loop; }

void undead_loop_set_running(void *loop) { running_loop = loop; }

void undead_loop_set_current(void *loop, void (*ended)(void *)) {
  pthread_once(&thread_end_once, make_thread_end_key);
  current_loop = loop;
  current_loop_ended = ended;
  pthread_setspecific(thread_end_key, loop ? &thread_number : NULL);
}

void undead_loop_futex_wait(const void *word, uint32_t expected) {
  int saved = errno;
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
  errno = saved;
}

void undead_loop_futex_wake(const void *word) {
  int saved = errno;
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  errno = saved;
}

int undead_loop_poll_create(void) {
  int poll = epoll_create1(EPOLL_CLOEXEC);
  return poll < 0 ? -errno : poll;
}

int undead_loop_wake_create(void) {
  int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return wake < 0 ? -errno : wake;
}

int undead_loop_timer_create(clockid_t clock) {
  int timer = timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK);
  return timer < 0 ? -errno : timer;
}

int undead_loop_poll_set(int poll, int descriptor, uint32_t conditions, uint64_t token, bool known) {
  struct epoll_event event = {.data.u64 = token};
  if (conditions & UNDEAD_LOOP_READABLE) event.events |= EPOLLIN | EPOLLRDHUP;
  if (conditions & UNDEAD_LOOP_WRITABLE) event.events |= EPOLLOUT;
  int operation = conditions == 0 ? EPOLL_CTL_DEL : known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  return epoll_ctl(poll, operation, descriptor, &event) == 0 ? 0 : -errno;
}

uint32_t undead_loop_ready(int descriptor, uint32_t conditions) {
  struct pollfd one = {.fd = descriptor};
  if (conditions & UNDEAD_LOOP_READABLE) one.events |= POLLIN | POLLRDHUP;
  if (conditions & UNDEAD_LOOP_WRITABLE) one.events |= POLLOUT;
  if (poll(&one, 1, 0) <= 0 || (one.revents & POLLNVAL)) return 0;
  return (one.revents & (POLLIN | POLLRDHUP | POLLHUP) ? UNDEAD_LOOP_READABLE : 0) |
         (one.revents & POLLOUT ? UNDEAD_LOOP_WRITABLE : 0) |
         (one.revents & (POLLERR | POLLHUP) ? UNDEAD_LOOP_HANGUP : 0);
}

static int wait_milliseconds(int poll, struct epoll_event *ready, int capacity, int64_t nanoseconds) {
  int64_t rounded = nanoseconds < 0 ? -1 : nanoseconds / 1000000 + (nanoseconds % 1000000 != 0);
  return epoll_wait(poll, ready, capacity, rounded > INT_MAX ? INT_MAX : (int)rounded);
}

uint32_t undead_loop_waits(void) { return atomic_load(&wait_count); }

int undead_loop_poll_wait(int poll, undead_loop_event *events, int capacity, int64_t nanoseconds) {
  enum { batch = 64 };
  struct epoll_event ready[batch];
  if (capacity > batch) capacity = batch;
  struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  int count = (int)syscall(SYS_epoll_pwait2, poll, ready, capacity, nanoseconds < 0 ? NULL : &limit, NULL, 0);
  // EPERM: container policies refuse system calls that they do not know.
  if (count < 0 && (errno == ENOSYS || errno == EPERM)) count = wait_milliseconds(poll, ready, capacity, nanoseconds);
  uint32_t wait = atomic_fetch_add(&wait_count, 1) + 1;
  for (int i = 0; i < count; i++) {
    events[i].token = ready[i].data.u64;
    events[i].wait = wait;
    events[i].conditions = (ready[i].events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP) ? UNDEAD_LOOP_READABLE : 0) |
                           (ready[i].events & EPOLLOUT ? UNDEAD_LOOP_WRITABLE : 0) |
                           (ready[i].events & (EPOLLERR | EPOLLHUP) ? UNDEAD_LOOP_HANGUP : 0);
  }
  return count < 0 ? 0 : count;
}

void undead_loop_timer_set(int timer, int64_t nanoseconds, bool relative) {
  struct itimerspec when = {{0, 0}, {0, 0}};
  if (nanoseconds != INT64_MAX) {
    if (nanoseconds < 1) nanoseconds = 1;  // 0 would disarm it
    when.it_value = (struct timespec){.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  }
  timerfd_settime(timer, relative ? 0 : TFD_TIMER_ABSTIME, &when, NULL);
}

int undead_loop_timer_watch_clock(int timer) {
  // The last date that the kernel can count, in 2262.
  struct itimerspec never = {{0, 0}, {.tv_sec = INT64_MAX / INT64_C(1000000000), .tv_nsec = 0}};
  return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) == 0 ? 0 : -errno;
}

void undead_loop_wake(int wake) {
  int saved = errno;
  uint64_t one = 1;
  while (write(wake, &one, sizeof one) < 0 && errno == EINTR) {
  }
  errno = saved;
}

void undead_loop_drain(int wake) {
  int saved = errno;
  uint64_t value;
  while (read(wake, &value, sizeof value) < 0 && errno == EINTR) {
  }
  errno = saved;
}

void undead_loop_close(int descriptor) { close(descriptor); }

uint64_t undead_loop_file(int descriptor) {
  struct stat file;
  if (fstat(descriptor, &file) != 0) return 0;
  uint64_t number = (uint64_t)file.st_dev << 48 ^ (uint64_t)file.st_ino;
  return number == 0 ? 1 : number;
}

void undead_loop_set_timer_slack(long nanoseconds) {
  // Once: a call for each sleep would be a system call more, and undo what the program chooses afterwards.
  static _Thread_local long chosen;
  if (chosen == nanoseconds) return;
  chosen = nanoseconds;
  prctl(PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0);
}
#endif
