// The functions by which a program sets and reads limits, interposed.
#include "session/state/interpose.h"
#include "platform/memory/own_data.h"
#include "session/limits/limits.h"
#include <errno.h>
#include <unistd.h>

static bool concerns_memory(int resource) { return resource == RLIMIT_AS || resource == RLIMIT_DATA; }

static int with_errno(int result) {
  if (result >= 0) return result;
  errno = -result;
  return -1;
}

// Under names of ours: those of libc promise that no pointer is NULL, and the kernel takes NULL.
UNDEAD_PUBLIC int undead_setrlimit(int resource, const struct rlimit *limit) __asm__("setrlimit");
UNDEAD_PUBLIC int undead_getrlimit(int resource, struct rlimit *limit) __asm__("getrlimit");
UNDEAD_PUBLIC int undead_prlimit(pid_t, int, const struct rlimit *, struct rlimit *) __asm__("prlimit");
_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "on 64-bit systems they are the same");

int undead_setrlimit(int resource, const struct rlimit *limit) {
  if (!concerns_memory(resource) || !limit) return UNDEAD_NEXT(setrlimit)(resource, limit);
  return with_errno(undead_limits_change(resource, limit, NULL));
}

int undead_getrlimit(int resource, struct rlimit *limit) {
  if (!concerns_memory(resource) || !limit) return UNDEAD_NEXT(getrlimit)(resource, limit);
  return with_errno(undead_limits_change(resource, NULL, limit));
}

int undead_prlimit(pid_t process, int resource, const struct rlimit *limit, struct rlimit *old) {
  if (!concerns_memory(resource) || (process != 0 && process != getpid()))
    return UNDEAD_NEXT(prlimit)(process, resource, limit, old);
  return with_errno(undead_limits_change(resource, limit, old));
}

UNDEAD_PUBLIC int undead_setrlimit64(int, const struct rlimit *) __asm__("setrlimit64") __attribute__((alias("setrlimit")));
UNDEAD_PUBLIC int undead_getrlimit64(int, struct rlimit *) __asm__("getrlimit64") __attribute__((alias("getrlimit")));
UNDEAD_PUBLIC int undead_prlimit64(pid_t, int, const struct rlimit *, struct rlimit *) __asm__("prlimit64")
    __attribute__((alias("prlimit")));
