// Threads and processes that are in the way of a scan.
#define _GNU_SOURCE
#include "program.h"
#include "threads.h"
#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void kill_if_child(int pid, int program) {
  char path[64], name[64], state;
  int number, parent;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *file = fopen(path, "r");
  if (!file) return;
  if (fscanf(file, "%d (%63[^)]) %c %d", &number, name, &state, &parent) == 4 && parent == program && number != getpid())
    kill(number, SIGKILL);
  fclose(file);
}

static void kill_children(int program) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (unsigned seed = 1;; usleep((unsigned)rand_r(&seed) % 3000)) {
    DIR *directory = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(directory));)
      if (atoi(entry->d_name)) kill_if_child(atoi(entry->d_name), program);
    closedir(directory);
  }
}

static pid_t killer;

// A process, as threads of the program stand still while the helper is at work.
void start_killer(void) {
  pid_t program = getpid();
  killer = fork();
  if (killer == 0) kill_children(program);
}

void stop_killer(void) {
  kill(killer, SIGKILL);
  waitpid(killer, NULL, 0);
}

static atomic_bool is_in_the_way, watched_enough;
static atomic_long watched;

static void *wait_in_vfork(void *unused) {
  const struct timespec moment = {0, 1000000};
  pid_t child = vfork();
  if (child == 0) {
    // What it writes is the program's memory.
    is_in_the_way = true;
    while (!watched_enough) syscall(SYS_nanosleep, &moment, NULL);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  return unused;
}

static void *watch(void *unused) {
  long microseconds = 0;
  for (int i = 0; i < 50; i++) microseconds += run_time_of_nanosleep(1000000) / 1000;
  watched = microseconds;
  watched_enough = true;
  return unused;
}

void start_vfork(void) {
  start(wait_in_vfork, NULL);
  while (!is_in_the_way) usleep(1000);
  start(watch, NULL);
}

static void *block_signals_until_watched(void *unused) {
  const struct timespec moment = {0, 1000000};
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  is_in_the_way = true;
  while (!watched_enough) nanosleep(&moment, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  for (;;) nanosleep(&moment, NULL);
  return unused;
}

// As a thread that is being made: it takes signals only after another one has run for a while.
void start_blocking(void) {
  start(block_signals_until_watched, NULL);
  while (!is_in_the_way) usleep(1000);
  start(watch, NULL);
}

long microseconds_watched(void) { return watched; }

#define VICTIMS 4
static pthread_t victims[VICTIMS], sender, sleeper;
static atomic_long sent, received, disturbed;
static volatile bool sender_stopped;

static void receive(int number) {
  (void)number;
  received++;
}

static void *sleep_a_lot(void *unused) {
  while (!stopped) usleep(1000);
  return unused;
}

static void *send_a_lot(void *unused) {
  union sigval value = {0};
  for (unsigned seed = 1; !sender_stopped; usleep(200))
    if (pthread_sigqueue(victims[rand_r(&seed) % VICTIMS], SIGRTMIN + 1, value) == 0) sent++;
  return unused;
}

long run_time_of_nanosleep(long nanoseconds) {
  struct timespec time = {0, nanoseconds}, before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  bool interrupted = nanosleep(&time, NULL) != 0;
  clock_gettime(CLOCK_MONOTONIC, &after);
  return interrupted ? -1 : (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
}

static void *sleep_undisturbed(void *unused) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGRTMIN + 1);
  pthread_sigmask(SIG_BLOCK, &mask, NULL);
  while (!stopped)
    if (run_time_of_nanosleep(1000000) < 1000000) disturbed++;
  return unused;
}

void start_signals(void) {
  struct sigaction action = {.sa_handler = receive, .sa_flags = SA_RESTART};
  sigaction(SIGRTMIN + 1, &action, NULL);
  for (int i = 0; i < VICTIMS; i++) victims[i] = start(sleep_a_lot, NULL);
  sender = start(send_a_lot, NULL);
  sleeper = start(sleep_undisturbed, NULL);
}

long check_signals(void) {
  // A signal to a thread that has ended would be lost in any case.
  sender_stopped = true;
  pthread_join(sender, NULL);
  stopped = true;
  for (int i = 0; i < VICTIMS; i++) pthread_join(victims[i], NULL);
  pthread_join(sleeper, NULL);
  if (sent != received || disturbed) printf("sent %ld received %ld early %ld\n", (long)sent, (long)received, (long)disturbed);
  return labs(sent - received) + disturbed + (sent == 0);
}

static void *end_at_once(void *argument) { return argument; }

void run_short_threads(int count, void *(*argument)(int)) {
  for (int i = 0; i < count; i++) pthread_join(start(end_at_once, argument(i)), NULL);
}
