// Calls with a relative timeout, each in a thread of its own, beside checks that come more often than the timeouts end.
#define _GNU_SOURCE
#include "program.h"
#include "threads.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

enum { MILLISECONDS = 300, MICROSECONDS = 1000 * MILLISECONDS };
static const struct timespec whole = {0, MICROSECONDS * 1000};

static bool with_usleep(void) { return usleep(MICROSECONDS) == 0; }
static bool with_nanosleep(void) { return nanosleep(&whole, NULL) == 0; }
static bool with_rest(void) {
  struct timespec rest = {0, 0};
  return nanosleep(&whole, &rest) == 0;
}
static bool with_clock(void) { return clock_nanosleep(CLOCK_MONOTONIC, 0, &whole, NULL) == 0; }
static bool with_poll(void) { return poll(NULL, 0, MILLISECONDS) == 0; }
static bool with_select(void) {
  struct timeval time = {0, MICROSECONDS};
  return select(0, NULL, NULL, NULL, &time) == 0;
}
static bool with_epoll(void) {
  struct epoll_event event;
  return epoll_wait(epoll_create1(0), &event, 1, MILLISECONDS) == 0;
}
static bool with_semaphore(void) {
  int set = semget(IPC_PRIVATE, 1, 0600);
  struct sembuf take = {0, -1, 0};
  bool ended = semtimedop(set, &take, 1, &whole) < 0 && errno == EAGAIN;
  semctl(set, 0, IPC_RMID);
  return ended;
}
static bool with_signal(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  return sigtimedwait(&set, NULL, &whole) < 0 && errno == EAGAIN;
}

static struct {
  const char *name;
  bool (*wait)(void);
} const calls[] = {
  {"usleep", with_usleep}, {"nanosleep", with_nanosleep}, {"nanosleep with a rest", with_rest},
  {"clock_nanosleep", with_clock}, {"poll", with_poll}, {"select", with_select}, {"epoll_wait", with_epoll},
  {"semtimedop", with_semaphore}, {"sigtimedwait", with_signal},
};
enum { CALLS = sizeof calls / sizeof *calls };
static atomic_int ended;
static atomic_bool has_ended[CALLS];

static long milliseconds_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void *wait_in_call(void *index) {
  size_t call = (size_t)index;
  long start = milliseconds_now();
  bool right = calls[call].wait();
  if (!right) printf("%s failed\n", calls[call].name);
  if (milliseconds_now() - start < MILLISECONDS) printf("%s ended early\n", calls[call].name);
  has_ended[call] = true;
  ended++;
  return NULL;
}

void start_timeouts(void) {
  for (size_t i = 0; i < CALLS; i++) start(wait_in_call, (void *)i);
}

bool timeouts_have_ended(void) { return ended == CALLS; }

void print_timeouts(void) {
  for (size_t i = 0; i < CALLS; i++)
    if (!has_ended[i]) printf("%s does not end\n", calls[i].name);
  printf("%d of %d ended\n", ended, CALLS);
  fflush(stdout);
}
