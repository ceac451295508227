// The memory of a thread's alternate signal stack may be known to the kernel alone, and only the thread itself can ask.
#include "platform/memory/own_data.h"
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

// Thread-local storage is looked through in each scan.
static __thread void *volatile alternate_stack __attribute__((tls_model("initial-exec")));

__attribute__((visibility("default"))) int sigaltstack(const stack_t *wanted, stack_t *old) {
  int result = (int)syscall(SYS_sigaltstack, wanted, old);
  if (result != 0 || !wanted) return result;
  // `wanted` and `old` may be one structure.
  int saved = errno;
  stack_t now;
  bool known = syscall(SYS_sigaltstack, NULL, &now) == 0;
  alternate_stack = known && !(now.ss_flags & SS_DISABLE) ? now.ss_sp : NULL;
  errno = saved;
  return result;
}
