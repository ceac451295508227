// How functions of libc are interposed: by definitions of the same name that call the next one in scope.
#pragma once
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_PUBLIC __attribute__((visibility("default")))

// All of them, but for syscall(), whose stub jumps to the next one.
#define UNDEAD_INTERPOSED(each) \
  each(exit) each(_exit) each(_Exit) each(quick_exit) \
  each(execve) each(execvpe) each(fexecve) each(posix_spawn) each(posix_spawnp) \
  each(sigaction) each(signal) each(sysv_signal) each(sigset) each(pthread_sigmask) each(sigprocmask) \
  each(setrlimit) each(getrlimit) each(prlimit) each(mlockall) each(prctl) UNDEAD_INTERPOSED_FOR_BUFFERS(each)
#define UNDEAD_INTERPOSED_FOR_BUFFERS(each) \
  each(read) each(write) each(pread) each(pwrite) each(pread64) each(pwrite64) each(readv) each(writev) \
  each(preadv) each(preadv64) each(pwritev) each(pwritev64) \
  each(recv) each(recvfrom) each(recvmsg) each(recvmmsg) each(send) each(sendto) each(sendmsg) each(sendmmsg)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"   // sigset
#define UNDEAD_NEXT_OF(name) __typeof__(name) *name##_;
typedef struct {
  UNDEAD_INTERPOSED(UNDEAD_NEXT_OF)
} undead_next_functions;
#pragma GCC diagnostic pop
extern undead_next_functions undead_next_of_libc;

// The next one of that name. The program may call an interposed function before our constructor ran, so it is looked up when it
// is needed.
#define UNDEAD_NEXT(name) ((__typeof__(undead_next_of_libc.name##_))undead_next_found((void **)&undead_next_of_libc.name##_, #name))
void *undead_next_found(void **next, const char *name);

// Looks all of them up early, since dlsym must not be called in signal handlers.
void undead_next_find_all(void);

#pragma GCC visibility pop
