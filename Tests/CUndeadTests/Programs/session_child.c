// A program that ends, forks, waits for signals... in the way that its first argument names.
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static const char *self;

static void say(const char *text) { dprintf(1, "%s\n", text); }

static int wait_for_child(void) {
  int status;
  while (wait(&status) < 0 && errno == EINTR) {}
  dprintf(1, "child %s %d\n", WIFEXITED(status) ? "exited" : "signalled",
          WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  return 0;
}

static void *exit_with_five(void *unused) {
  (void)unused;
  exit(5);
}

static pthread_t first_thread;

static void *end_later(void *unused) {
  pthread_join(first_thread, NULL);
  return unused;
}

static void *exit_together(void *barrier) {
  pthread_barrier_wait(barrier);
  exit(9);
}

// Ends of the program.

static int mode_return(void) { return 3; }

static int mode_exit(void) { exit(4); }

static int mode_err(void) { errx(8, "stopped"); }

static int mode_exit_in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, exit_with_five, NULL);
  for (;;) pause();
}

static int mode_last_thread(void) {
  pthread_t thread;
  first_thread = pthread_self();
  pthread_create(&thread, NULL, end_later, NULL);
  pthread_exit(NULL);
}

static int mode_two_exits(void) {
  pthread_barrier_t barrier;
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&thread, NULL, exit_together, &barrier);
  exit_together(&barrier);
  return 0;
}

static int mode_quick(void) { _exit(6); }

static int mode_quick_exit(void) { quick_exit(6); }

static int mode_abort(void) { abort(); }

static void look_for_snapshot(const char *moment) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%d.1.1.undead", getenv("UNDEAD_SESSION"), getpid());
  dprintf(1, "%s: %s, errno %d\n", moment, access(path, F_OK) == 0 ? "written" : "not yet", errno);
}

static void at_exit(void) {
  look_for_snapshot("exit handler");
  errno = 77;
}

static int looks_at_end;
__attribute__((destructor)) static void at_unload(void) {
  int error = errno;
  if (!looks_at_end) return;
  dprintf(1, "errno %d\n", error);
  look_for_snapshot("destructor");
}

static int mode_order(void) {
  looks_at_end = 1;
  atexit(at_exit);
  return 0;
}

// Signals.

static int mode_sleep(void) {
  say("ready");
  for (;;) sleep(1000);
}

static int mode_spin(void) {
  say("ready");
  for (volatile int i = 0;; i++) {}
}

static int mode_allocate(void) {
  say("ready");
  for (;;) free(malloc(100));
}

static int mode_fork_often(void) {
  say("ready");
  for (;;) {
    pid_t child = fork();
    if (child == 0) execl("/bin/true", "true", NULL);
    waitpid(child, NULL, 0);
  }
}

static void exit_with_seven(int signal) {
  (void)signal;
  exit(7);
}

static int mode_handled(void) {
  // The handler runs while the thread waits, never in the middle of the libc call that writes: no check is possible there.
  sigset_t term, none;
  sigemptyset(&none);
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, NULL);
  signal(SIGTERM, exit_with_seven);
  say("ready");
  for (;;) sigsuspend(&none);
}

static int mode_signalfd(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, NULL);
  int file = signalfd(-1, &set, 0);
  say("ready");
  struct signalfd_siginfo info;
  if (read(file, &info, sizeof(info)) == sizeof(info)) dprintf(1, "signal %u\n", info.ssi_signo);
  return 2;
}

static int mode_wait_for_interrupt(void) {
  struct sigaction action;
  sigset_t later;
  int number;
  sigemptyset(&later);
  sigaddset(&later, SIGUSR2);
  sigprocmask(SIG_BLOCK, &later, NULL);
  sigaction(SIGINT, NULL, &action);
  say(action.sa_handler == SIG_IGN ? "ignored" : "not ignored");
  say("ready");
  sigwait(&later, &number);
  return 2;
}

static int mode_query(void) {
  struct sigaction action;
  sigaction(SIGTERM, NULL, &action);
  dprintf(1, "%d", action.sa_handler == SIG_DFL && action.sa_flags == 0);
  dprintf(1, "%d", signal(SIGINT, SIG_IGN) == SIG_DFL);
  dprintf(1, "%d", signal(SIGINT, SIG_DFL) == SIG_IGN);
  dprintf(1, "%d", signal(SIGINT, exit_with_seven) == SIG_DFL);
  sigaction(SIGINT, NULL, &action);
  dprintf(1, "%d\n", action.sa_handler == exit_with_seven);
  return 0;
}

// The test leaves a file there when its signal has been answered.
static bool is_over(void) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/over", getenv("UNDEAD_SESSION"));
  return access(path, F_OK) == 0;
}

// Waits for a second, as often as it takes until the test has sent its signal.
static int wait_for_seconds(int (*wait)(void)) {
  say("ready");
  bool woken = false;
  do {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    int result = wait();
    clock_gettime(CLOCK_MONOTONIC, &end);
    double waited = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
    woken |= result != 0 || waited < 0.99;
  } while (!is_over());
  say(woken ? "woken" : "waited");
  return 0;
}

static int nap(void) { return nanosleep(&(struct timespec){.tv_sec = 1}, NULL); }

static int wait_in_poll(void) { return poll(NULL, 0, 1000); }

static int wait_in_pselect(void) { return pselect(0, NULL, NULL, NULL, &(struct timespec){.tv_sec = 1}, NULL); }

static int wait_in_epoll(void) {
  struct epoll_event event;
  sigset_t none;
  sigemptyset(&none);
  return epoll_pwait(epoll_create1(0), &event, 1, 1000, &none);
}

static void *sleep_for_ever(void *unused) {
  (void)unused;
  for (;;) sleep(1000);
}

static int mode_nap(void) { return wait_for_seconds(nap); }

static int mode_nap_poll(void) { return wait_for_seconds(wait_in_poll); }

// Libc makes its calls in another way then.
static int with_second_thread(int (*wait)(void)) {
  pthread_t thread;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_create(&thread, NULL, sleep_for_ever, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return wait_for_seconds(wait);
}

static int mode_nap_pselect(void) { return with_second_thread(wait_in_pselect); }

static int mode_nap_epoll(void) { return with_second_thread(wait_in_epoll); }

// Other processes.

static int mode_fork(void) {
  if (fork() == 0) exit(1);
  return wait_for_child();
}

static int mode_fork_quick(void) {
  if (fork() == 0) _exit(1);
  return wait_for_child();
}

static int mode_bare_fork(void) {
  if (_Fork() == 0) exit(1);
  return wait_for_child();
}

static int mode_vfork(void) {
  if (vfork() == 0) {
    execl(self, self, "return", NULL);
    _exit(127);
  }
  return wait_for_child();
}

static int mode_vfork_fails(void) {
  if (vfork() == 0) {
    execl("/nowhere/at/all", "nothing", NULL);
    _exit(127);
  }
  return wait_for_child();
}

static int mode_spawn(void) {
  char *arguments[] = {(char *)self, "return", NULL};
  pid_t child;
  posix_spawn(&child, self, NULL, NULL, arguments, environ);
  return wait_for_child();
}

static int mode_exec(void) {
  execl(self, self, "return", NULL);
  return 1;
}

static int mode_exec_uncovered(void) {
  unsetenv("LD_PRELOAD");
  execl(self, self, "return", NULL);
  return 1;
}

static int mode_exec_fails(void) {
  execl("/nowhere/at/all", "nothing", NULL);
  return errno == ENOENT ? 3 : 1;
}

// Surroundings.

static int mode_descriptors(void) {
  DIR *directory = opendir("/proc/self/fd");
  struct dirent *entry;
  while ((entry = readdir(directory)))
    if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory)) dprintf(1, "%s ", entry->d_name);
  dprintf(1, "then %d\n", dirfd(directory));
  return 0;
}

static int mode_file_limit(void) {
  struct rlimit limit = {512, 512};
  setrlimit(RLIMIT_FSIZE, &limit);
  return 3;
}

static int mode_without_directory(void) {
  char command[4096];
  snprintf(command, sizeof(command), "rm -r '%s'", getenv("UNDEAD_SESSION"));
  unsetenv("LD_PRELOAD");
  return system(command) == 0 ? 3 : 1;
}

static const struct {
  const char *name;
  int (*run)(void);
} modes[] = {
    {"return", mode_return},
    {"exit", mode_exit},
    {"err", mode_err},
    {"exit-in-thread", mode_exit_in_thread},
    {"last-thread", mode_last_thread},
    {"two-exits", mode_two_exits},
    {"_exit", mode_quick},
    {"quick_exit", mode_quick_exit},
    {"abort", mode_abort},
    {"order", mode_order},
    {"sleep", mode_sleep},
    {"spin", mode_spin},
    {"allocate", mode_allocate},
    {"fork-often", mode_fork_often},
    {"handled", mode_handled},
    {"signalfd", mode_signalfd},
    {"wait-for-interrupt", mode_wait_for_interrupt},
    {"query", mode_query},
    {"nap", mode_nap},
    {"nap-poll", mode_nap_poll},
    {"nap-pselect", mode_nap_pselect},
    {"nap-epoll", mode_nap_epoll},
    {"fork", mode_fork},
    {"fork-quick", mode_fork_quick},
    {"bare-fork", mode_bare_fork},
    {"vfork", mode_vfork},
    {"vfork-fails", mode_vfork_fails},
    {"spawn", mode_spawn},
    {"exec", mode_exec},
    {"exec-uncovered", mode_exec_uncovered},
    {"exec-fails", mode_exec_fails},
    {"descriptors", mode_descriptors},
    {"file-limit", mode_file_limit},
    {"without-directory", mode_without_directory},
};

int main(int count, char **arguments) {
  self = arguments[0];
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]) && count > 1; i++)
    if (strcmp(modes[i].name, arguments[1]) == 0) return modes[i].run();
  fprintf(stderr, "unknown mode\n");
  return 64;
}
