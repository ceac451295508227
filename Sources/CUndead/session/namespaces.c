#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "session/namespaces.h"
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

bool undead_namespace_enter_own(int *before, bool for_good) {
  // There is nothing to open before the first child of the new namespace.
  *before = open("/proc/thread-self/ns/pid_for_children", O_RDONLY | O_CLOEXEC);
  int own = *before >= 0 || for_good ? open("/proc/thread-self/ns/pid", O_RDONLY | O_CLOEXEC) : -1;
  bool entered = own >= 0 && setns(own, CLONE_NEWPID) == 0;
  if (own >= 0) close(own);
  if (!entered && *before >= 0) close(*before);
  return entered;
}

void undead_namespace_leave_own(int before) {
  if (before < 0) return;
  setns(before, CLONE_NEWPID);
  close(before);
}
#endif
