#include "session/limits/limits.h"
#include "undead.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "record/mode.h"
#include "session/state/process.h"
#include "zombies/zombies.h"
#include <errno.h>
#include <unistd.h>

// The library itself, most of it the table of the parts of the address space, and what it loads.
#define IMAGE_BYTES (24u << 20)
// A hard limit cannot be raised again: so much more than now may become necessary, for the tables of a check above
// all, and half of the limit for the table of blocks.
#define LATER_BYTES (4ul << 30)

typedef struct {
  bool known;                       // `wanted` was set; what the kernel has is ours
  struct rlimit wanted;
  struct rlimit set;                // in the kernel
} program_limit;

static program_limit addresses, data;
static bool are_lifted;

static program_limit *limit_of(int resource) {
  return resource == RLIMIT_AS ? &addresses : resource == RLIMIT_DATA ? &data : NULL;
}

static int ask_kernel(int resource, const struct rlimit *limit, struct rlimit *old) {
  return (int)undead_raw4(SYS_prlimit64, 0, resource, (long)limit, (long)old);
}

static rlim_t plus(rlim_t limit, rlim_t more) {
  return limit > RLIM_INFINITY - 1 - more ? RLIM_INFINITY : limit + more;
}

static rlim_t own_bytes(int resource, rlim_t more) {
  undead_own_sizes sizes = undead_own_memory_sizes();
  return (resource == RLIMIT_AS ? sizes.addresses : sizes.data) + IMAGE_BYTES + more;
}

static struct rlimit with_own(int resource, const struct rlimit *wanted, rlim_t more) {
  rlim_t own = own_bytes(resource, more);
  struct rlimit limit = *wanted;
  if (limit.rlim_cur != RLIM_INFINITY) limit.rlim_cur = plus(limit.rlim_cur, own);
  if (limit.rlim_max != RLIM_INFINITY) limit.rlim_max = plus(limit.rlim_max, own + LATER_BYTES + limit.rlim_max / 2);
  return limit;
}

// What is wanted and what the instrument needs. A process without rights may lower its hard limit only. 0, or a negative
// error number; then `limit->set` is as before. `was`: what the limit was until now.
static int apply(int resource, program_limit *limit, rlim_t more, struct rlimit *was) {
  struct rlimit next = with_own(resource, &limit->wanted, more), now;
  int result = ask_kernel(resource, &next, was);
  if (result == -EPERM && ask_kernel(resource, NULL, &now) == 0 && now.rlim_max >= limit->wanted.rlim_max) {
    next.rlim_max = now.rlim_max;
    if (next.rlim_cur > next.rlim_max) next.rlim_cur = next.rlim_max;
    result = ask_kernel(resource, &next, was);
  }
  if (result == 0) limit->set = next;
  return result;
}

static bool are_equal(const struct rlimit *a, const struct rlimit *b) {
  return a->rlim_cur == b->rlim_cur && a->rlim_max == b->rlim_max;
}

// Another process may have set limits of this one since they were `set`, and these are wanted then: a caller of
// posix_spawn sets them when the program runs already.
static int apply_unless_changed(int resource, program_limit *limit, rlim_t more) {
  struct rlimit now, was;
  if (ask_kernel(resource, NULL, &now) != 0) return -EPERM;
  if (!are_equal(&now, &limit->set)) limit->wanted = now;
  int result = apply(resource, limit, more, &was);
  if (result != 0 || are_equal(&was, &now)) return result;
  // Just now.
  limit->wanted = was;
  return apply(resource, limit, more, &was);
}

static void make_room_for(int resource, program_limit *known, size_t more) {
  if (known->known) apply_unless_changed(resource, known, more);
}

static void make_room(size_t more) {
  int saved_errno = errno;
  make_room_for(RLIMIT_AS, &addresses, more);
  make_room_for(RLIMIT_DATA, &data, more);
  errno = saved_errno;
}

// The kernel's hard limit is higher than the program knows, so it does not see what the program may not do.
static bool may_raise(int resource) {
  struct rlimit now, higher;
  if (ask_kernel(resource, NULL, &now) != 0 || now.rlim_max == RLIM_INFINITY) return false;
  higher = (struct rlimit){now.rlim_cur, now.rlim_max + 1};
  return ask_kernel(resource, &higher, NULL) == 0;
}

static int change_limit(int resource, program_limit *known, const struct rlimit *limit) {
  struct rlimit wanted = *limit;
  if (wanted.rlim_cur > wanted.rlim_max) return -EINVAL;
  if (known->known && wanted.rlim_max > known->wanted.rlim_max && !may_raise(resource)) return -EPERM;
  if (resource == RLIMIT_AS && wanted.rlim_cur != RLIM_INFINITY) undead_record_limit_addresses(wanted.rlim_cur);
  program_limit changed = {.known = true, .wanted = wanted};
  struct rlimit was;
  int result = apply(resource, &changed, 0, &was);
  if (result != 0) return result;
  *known = changed;
  undead_before_map = make_room;
  return 0;
}

int undead_limits_change(int resource, const struct rlimit *limit, struct rlimit *old) {
  program_limit *known = limit_of(resource);
  bool uses_memory = undead_is_active() || undead_zombies_have_pool();
  bool ours = known && (known->known || uses_memory) && undead_process_now() != UNDEAD_PROCESS_BORROWED;
  if (!ours) return ask_kernel(resource, limit, old);
  if (!are_lifted) make_room_for(resource, known, 0);
  struct rlimit before;
  int result = known->known ? 0 : ask_kernel(resource, NULL, &before);
  if (known->known) before = known->wanted;
  if (result == 0 && limit) result = change_limit(resource, known, limit);
  if (result == 0 && old) *old = before;
  return result;
}

static void begin_limit(int resource) {
  program_limit now = {.known = true}, *known = limit_of(resource);
  if (ask_kernel(resource, NULL, &now.set) != 0 || now.set.rlim_cur == RLIM_INFINITY) return;
  now.wanted = now.set;
  if (resource == RLIMIT_AS) undead_record_limit_addresses(now.wanted.rlim_cur);
  if (apply_unless_changed(resource, &now, 0) != 0) return;
  *known = now;
  undead_before_map = make_room;
}

void undead_limits_begin(void) {
  begin_limit(RLIMIT_AS);
  begin_limit(RLIMIT_DATA);
}

static rlim_t least(rlim_t a, rlim_t b) { return a < b ? a : b; }

static void hand_on(int resource, pid_t process) {
  const program_limit *known = limit_of(resource);
  struct rlimit limit;
  if (!known->known || undead_raw4(SYS_prlimit64, process, resource, 0, (long)&limit) != 0) return;
  // A vfork child may have set limits of its own.
  limit.rlim_cur = least(limit.rlim_cur, known->wanted.rlim_cur);
  limit.rlim_max = least(limit.rlim_max, known->wanted.rlim_max);
  undead_raw4(SYS_prlimit64, process, resource, (long)&limit, 0);
}

void undead_limits_hand_on(pid_t process) {
  hand_on(RLIMIT_AS, process);
  hand_on(RLIMIT_DATA, process);
}

void undead_limits_keep(void) { make_room(0); }

static const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
static const uint8_t lifted_resources[] = {
    RLIMIT_AS, RLIMIT_DATA, RLIMIT_MEMLOCK, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_CPU, RLIMIT_SIGPENDING};

void undead_limits_lift(undead_lifted_limits *lifted) {
  undead_before_map = NULL;
  are_lifted = true;
  for (size_t i = 0; i < sizeof lifted_resources; i++) {
    int resource = lifted_resources[i];
    struct rlimit *before = &lifted->before[resource];
    if (ask_kernel(resource, NULL, before) != 0) *before = none;
    if (before->rlim_cur == RLIM_INFINITY || ask_kernel(resource, &none, NULL) == 0) continue;
    ask_kernel(resource, &(struct rlimit){before->rlim_max, before->rlim_max}, NULL);
  }
}

void undead_limits_restore(const undead_lifted_limits *lifted) {
  for (size_t i = 0; i < sizeof lifted_resources; i++) {
    const struct rlimit *before = &lifted->before[lifted_resources[i]];
    if (before->rlim_cur != RLIM_INFINITY) ask_kernel(lifted_resources[i], before, NULL);
  }
  are_lifted = false;
  if (addresses.known || data.known) undead_before_map = make_room;
}
