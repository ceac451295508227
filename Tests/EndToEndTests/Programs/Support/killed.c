// Preloaded into the tool, kills it before its request of ptrace of the number KILL_AT. What the tool starts is spared.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long left;
static pid_t tool;
static long (*real)(long number, ...);

__attribute__((constructor)) static void begin(void) {
  const char *setting = getenv("KILL_AT");
  left = setting ? atol(setting) : 0;
  tool = getpid();
  *(void **)&real = dlsym(RTLD_NEXT, "syscall");
  unsetenv("KILL_AT");
  unsetenv("LD_PRELOAD");
}

long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (int i = 0; i < 6; i++) arguments[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_ptrace && left > 0 && getpid() == tool && --left == 0) kill(tool, SIGKILL);
  return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}
