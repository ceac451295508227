#include "world/descriptors.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "world/helper/clone.h"
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define CLOSER_STACK_BYTES (64u << 10)

enum { IDLE, WANTED };

static struct {
  uint32_t state, alive;       // futexes
  int32_t owner;               // pid of the program
  long pid;                    // 0 if there is none
  char *stack;
  bool (*work)(void *);
  void *context;
  bool done;
} keeper;

static void closer_crashed(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
  undead_raw3(SYS_exit_group, 1, 0, 0);
}

static void wait_while(uint32_t *futex, uint32_t value) {
  while (__atomic_load_n(futex, __ATOMIC_ACQUIRE) == value)
    undead_raw6(SYS_futex, (long)futex, FUTEX_WAIT, value, 0, 0, 0);
}

// Copies the table: the part of it that is closed is empty.
static bool copy_table(void) {
  const long unshare_table = 1 << 1;   // CLOSE_RANGE_UNSHARE
  return undead_raw3(SYS_close_range, INT32_MAX, ~0u, unshare_table) == 0;
}

static int keeper_main(void *context) {
  (void)context;
  undead_raw3(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
  if (undead_raw3(SYS_getppid, 0, 0, 0) != keeper.owner) return 1;
  undead_take_over_faults(closer_crashed);
  wait_while(&keeper.state, IDLE);
  if (copy_table()) keeper.done = keeper.work(keeper.context);
  return 0;
}

void undead_descriptors_keep(void) {
  memset(&keeper, 0, sizeof keeper);
  if (!(keeper.stack = undead_map(CLOSER_STACK_BYTES))) return;
  keeper.owner = (int32_t)undead_raw3(SYS_getpid, 0, 0, 0);
  keeper.alive = 1;
  keeper.pid = undead_clone_on_stack(CLONE_FILES, keeper.stack + CLOSER_STACK_BYTES, &keeper.alive, keeper_main);
}

bool undead_descriptors_ask(bool (*work)(void *), void *context) {
  if (keeper.pid <= 0 || keeper.state != IDLE) return false;
  keeper.work = work;
  keeper.context = context;
  __atomic_store_n(&keeper.state, WANTED, __ATOMIC_RELEASE);
  undead_raw6(SYS_futex, (long)&keeper.state, FUTEX_WAKE, 1, 0, 0, 0);
  wait_while(&keeper.alive, 1);   // its copies are closed after that
  return keeper.done;
}

void undead_descriptors_drop(void) {
  if (keeper.pid > 0) {
    undead_raw3(SYS_kill, keeper.pid, SIGKILL, 0);
    while (undead_raw4(SYS_wait4, keeper.pid, 0, __WALL, 0) == -EINTR) {
    }
  }
  undead_unmap(keeper.stack, CLOSER_STACK_BYTES);
  memset(&keeper, 0, sizeof keeper);
}
