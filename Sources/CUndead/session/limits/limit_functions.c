// The functions by which a program sets and reads limits, interposed.
#include "session/state/interpose.h"
#include "platform/memory/own_data.h"
#include "session/limits/limits.h"
#include <errno.h>
#include <unistd.h>

typedef int (*setrlimit_function)(int, const struct rlimit *);
typedef int (*getrlimit_function)(int, struct rlimit *);
typedef int (*prlimit_function)(pid_t, int, const struct rlimit *, struct rlimit *);

static setrlimit_function next_setrlimit;
static getrlimit_function next_getrlimit;
static prlimit_function next_prlimit;

void undead_limits_find_next(void) {
  (void)UNDEAD_NEXT(next_setrlimit, "setrlimit");
  (void)UNDEAD_NEXT(next_getrlimit, "getrlimit");
  (void)UNDEAD_NEXT(next_prlimit, "prlimit");
}

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
UNDEAD_PUBLIC int undead_setrlimit64(int resource, const struct rlimit *limit) __asm__("setrlimit64");
UNDEAD_PUBLIC int undead_getrlimit64(int resource, struct rlimit *limit) __asm__("getrlimit64");
UNDEAD_PUBLIC int undead_prlimit64(pid_t, int, const struct rlimit *, struct rlimit *) __asm__("prlimit64");
_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "on 64-bit systems they are the same");

int undead_setrlimit(int resource, const struct rlimit *limit) {
  if (!concerns_memory(resource) || !limit) return UNDEAD_NEXT(next_setrlimit, "setrlimit")(resource, limit);
  return with_errno(undead_limits_change(resource, limit, NULL));
}

int undead_getrlimit(int resource, struct rlimit *limit) {
  if (!concerns_memory(resource) || !limit) return UNDEAD_NEXT(next_getrlimit, "getrlimit")(resource, limit);
  return with_errno(undead_limits_change(resource, NULL, limit));
}

int undead_prlimit(pid_t process, int resource, const struct rlimit *limit, struct rlimit *old) {
  if (!concerns_memory(resource) || (process != 0 && process != getpid()))
    return UNDEAD_NEXT(next_prlimit, "prlimit")(process, resource, limit, old);
  return with_errno(undead_limits_change(resource, limit, old));
}

int undead_setrlimit64(int resource, const struct rlimit *limit) { return undead_setrlimit(resource, limit); }
int undead_getrlimit64(int resource, struct rlimit *limit) { return undead_getrlimit(resource, limit); }

int undead_prlimit64(pid_t process, int resource, const struct rlimit *limit, struct rlimit *old) {
  return undead_prlimit(process, resource, limit, old);
}
