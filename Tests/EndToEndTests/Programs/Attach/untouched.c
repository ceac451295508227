#define _GNU_SOURCE
#include "untouched.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEP = 20 * 1000 * 1000 };

typedef struct {
  const char *name;
  void (*body)(void);
  atomic_uint turns;
} part;

static pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER;
static char fault[512];

static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&fault_lock);
  if (!fault[0]) vsnprintf(fault, sizeof fault, format, arguments);
  pthread_mutex_unlock(&fault_lock);
  va_end(arguments);
}

static void check(long result, const char *call) {
  if (result < 0) fail("%s: %s", call, strerror(errno));
}

// What every stop of a thread may do to these calls (signal(7)).
static atomic_uint interruptions;
static void check_interruptible(long result, const char *call) {
  if (result < 0 && errno == EINTR) interruptions++;
  else check(result, call);
}

static struct timespec later(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += STEP;
  if (time.tv_nsec >= 1000000000) {
    time.tv_sec++;
    time.tv_nsec -= 1000000000;
  }
  return time;
}

// Vectors and numbers in many registers at once: another result shows one that was not put back.
static double calculated(void) {
  double sums[16];
  uint64_t whole = 1;
  for (int i = 0; i < 16; i++) sums[i] = i;
  for (int step = 0; step < 100000; step++) {
    for (int i = 0; i < 16; i++) sums[i] = sums[i] * 1.0000001 + i * 1e-9;
    whole = whole * 6364136223846793005u + (uint64_t)step;
  }
  double all = (double)(whole % 1024);
  for (int i = 0; i < 16; i++) all += sums[i];
  return all;
}

static double expected;
static void calculate(void) {
  if (calculated() != expected) fail("calculate: another result");
  // As long as it calculates: the processor is for others, too.
  usleep(1500);
}

static void sleeps(void) {
  struct timespec time = {0, STEP};
  check(nanosleep(&time, NULL), "nanosleep");
}

static void sleeps_until(void) {
  struct timespec time = later(CLOCK_MONOTONIC);
  int code = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
  if (code) fail("clock_nanosleep: %s", strerror(code));
}

static void polls(void) {
  check(poll(NULL, 0, STEP / 1000000), "poll");
}

static void selects(void) {
  struct timeval time = {0, STEP / 1000};
  check(select(0, NULL, NULL, NULL, &time), "select");
}

static int timed_epoll, endless_epoll, event_file, pipe_ends[2], silent[2];

static void waits_for_events(void) {
  struct epoll_event event;
  check_interruptible(epoll_wait(timed_epoll, &event, 1, STEP / 1000000), "epoll_wait");
}

static void waits_without_limit(void) {
  struct epoll_event event;
  uint64_t value;
  check_interruptible(epoll_wait(endless_epoll, &event, 1, -1), "epoll_wait without a limit");
  check(read(event_file, &value, sizeof value), "eventfd");
}

static void wakes(void) {
  uint64_t one = 1;
  usleep(7000);
  check(write(event_file, &one, sizeof one), "write");
}

static void receives(void) {
  char byte;
  // A socket with a time limit: the call is not made anew by the system.
  long count = recv(silent[0], &byte, 1, 0);
  if (count >= 0) fail("recv: a byte that nobody sent");
  else if (errno != EAGAIN) check_interruptible(count, "recv");
}

static void waits_for_semaphore(void) {
  static sem_t semaphore;
  struct timespec time = later(CLOCK_REALTIME);
  if (sem_timedwait(&semaphore, &time) == 0 || errno != ETIMEDOUT) fail("sem_timedwait: %s", strerror(errno));
}

static uint32_t written;
static void writes(void) {
  usleep(3000);
  written++;
  check(write(pipe_ends[1], &written, sizeof written), "write");
}

static void reads(void) {
  static uint32_t last;
  uint32_t number = 0;
  long count = read(pipe_ends[0], &number, sizeof number);
  if (count != sizeof number || number != last + 1) fail("read: %u after %u (%ld bytes)", number, last, count);
  last = number;
}

// Signals in a queue, blocked but while they are waited for: each comes once, in order.
static pthread_t receiver;
static atomic_int received;
static void takes(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  if (info->si_value.sival_int != received + 1) fail("signal %d after %d", info->si_value.sival_int, received);
  received++;
}

static void receives_signals(void) {
  static bool ready;
  if (!ready) {
    struct sigaction action = {.sa_sigaction = takes, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGRTMIN + 3, &action, NULL);
    ready = true;
    receiver = pthread_self();
  }
  for (volatile int i = 0; i < 100000; i++) {}
}

static void sends_signals(void) {
  static int sent;
  usleep(500);
  if (!receiver || sent - received > 50) return;
  sent++;
  if (pthread_sigqueue(receiver, SIGRTMIN + 3, (union sigval){.sival_int = sent})) fail("sigqueue");
}

static part parts[] = {
  {"calculate", calculate, 0}, {"nanosleep", sleeps, 0}, {"clock_nanosleep", sleeps_until, 0}, {"poll", polls, 0},
  {"select", selects, 0}, {"epoll", waits_for_events, 0}, {"epoll-endless", waits_without_limit, 0}, {"wake", wakes, 0},
  {"recv", receives, 0}, {"semaphore", waits_for_semaphore, 0}, {"write", writes, 0}, {"read", reads, 0},
  {"take", receives_signals, 0}, {"send", sends_signals, 0},
};

static void *run(void *argument) {
  part *part = argument;
  for (;;) {
    part->body();
    part->turns++;
  }
  return NULL;
}

static void *end(void *argument) {
  return argument;
}

static void *make_threads(void *unused) {
  (void)unused;
  for (;;) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, end, NULL) == 0) pthread_join(thread, NULL);
    usleep(2000);
  }
  return NULL;
}

void untouched_start(void) {
  expected = calculated();
  timed_epoll = epoll_create1(0);
  endless_epoll = epoll_create1(0);
  event_file = eventfd(0, 0);
  struct epoll_event interest = {.events = EPOLLIN};
  epoll_ctl(endless_epoll, EPOLL_CTL_ADD, event_file, &interest);
  check(pipe(pipe_ends), "pipe");
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, silent), "socketpair");
  struct timeval limit = {0, STEP / 1000};
  setsockopt(silent[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  pthread_t thread;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) pthread_create(&thread, NULL, run, &parts[i]);
  pthread_create(&thread, NULL, make_threads, NULL);
}

const char *untouched_answer(void) {
  static char text[1024];
  if (fault[0]) {
    snprintf(text, sizeof text, "bad %s", fault);
    return text;
  }
  // No child that the program did not make.
  int status;
  pid_t child = waitpid(-1, &status, WNOHANG | __WALL);
  if (child >= 0 || errno != ECHILD) {
    snprintf(text, sizeof text, "bad child %d", child);
    return text;
  }
  size_t length = (size_t)snprintf(text, sizeof text, "ok interruptions=%u", interruptions);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    length += (size_t)snprintf(text + length, sizeof text - length, " %s=%u", parts[i].name, parts[i].turns);
  }
  return text;
}

void untouched_hold(void *object) {
  struct epoll_event interest = {.events = EPOLLIN, .data = {.ptr = object}};
  check(epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, eventfd(0, 0), &interest), "epoll_ctl");
}

void untouched_queue(void *object) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGRTMIN + 4);
  check(-pthread_sigmask(SIG_BLOCK, &signals, NULL), "pthread_sigmask");
  check(sigqueue(getpid(), SIGRTMIN + 4, (union sigval){.sival_ptr = object}), "sigqueue");
}
