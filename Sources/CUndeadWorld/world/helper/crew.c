#include "world/crew.h"
#include "platform/system/environment.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/processor/registers.h"
#include "world/helper/clone.h"
#include "world/given.h"
#include "world/helper.h"
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#define CREW_STACK_BYTES (1u << 20)
#define GUARD_BYTES 4096u
#define MASK_BYTES 1024u   // 8192 processors

typedef struct {
  uint32_t alive[UNDEAD_MOST_CREW - 1];   // the kernel clears each when its thread is gone
  char *stacks[UNDEAD_MOST_CREW - 1];
  void (*work)(void *context, uint32_t index);
  void *context;
  uint32_t begun;
  int32_t crash_number;                   // of the first one that crashed; 0: none
  uintptr_t crash_address;
} crew_state;

static crew_state crew;

uint32_t undead_crew_is_to_leave;
static uint32_t wanted;   // by the setting; 0: as many as there are processors
// While the first threads are made a filter of system calls shows itself.
static enum { UNTRIED, TRYING, ALLOWED, FORBIDDEN } permission;

__attribute__((constructor)) static void read_setting(void) {
  const char *text = undead_setting("UNDEAD_SCAN_THREADS");
  if (!text || text[0] < '1' || text[0] > '9' || text[1]) return;
  wanted = (uint32_t)(text[0] - '0') < UNDEAD_MOST_CREW ? (uint32_t)(text[0] - '0') : UNDEAD_MOST_CREW;
}

static uint32_t processors(void) {
  uint64_t mask[MASK_BYTES / 8];
  long bytes = undead_raw3(SYS_sched_getaffinity, 0, sizeof mask, (long)mask);
  uint32_t count = 0;
  for (long i = 0; i < bytes / 8; i++) count += (uint32_t)__builtin_popcountll(mask[i]);
  return count < 1 ? 1 : count < UNDEAD_MOST_CREW ? count : UNDEAD_MOST_CREW;
}

uint32_t undead_crew_size(bool program_runs) {
  if (permission == FORBIDDEN || (undead_given() && !undead_given()->may_have_threads)) return 1;
  if (permission == UNTRIED) permission = TRYING;
  if (wanted) return wanted;
  return program_runs ? 1 : processors();
}

static int begin(void *unused) {
  (void)unused;
  crew.work(crew.context, __atomic_add_fetch(&crew.begun, 1, __ATOMIC_RELAXED));
  undead_raw3(SYS_exit, 0, 0, 0);   // of this thread alone
  __builtin_unreachable();
}

static bool add_crew_thread(uint32_t index) {
  char *stack = undead_map(CREW_STACK_BYTES);
  if (!stack) return false;
  mprotect(stack, GUARD_BYTES, PROT_NONE);
  crew.stacks[index] = stack;
  __atomic_store_n(&crew.alive[index], 1, __ATOMIC_RELEASE);
  unsigned long flags = CLONE_THREAD | CLONE_SIGHAND | CLONE_FILES | CLONE_SYSVSEM;
  if (undead_clone_on_stack(flags, stack + CREW_STACK_BYTES, &crew.alive[index], begin) > 0) return true;
  __atomic_store_n(&crew.alive[index], 0, __ATOMIC_RELEASE);
  return false;
}

static void give_stacks_back(void) {
  for (uint32_t i = 0; i < UNDEAD_MOST_CREW - 1; i++)
    if (crew.stacks[i]) undead_unmap(crew.stacks[i], CREW_STACK_BYTES);
}

uint32_t undead_crew_start(uint32_t others, void (*work)(void *context, uint32_t index), void *context) {
  uint32_t count = 0;
  crew = (crew_state){.work = work, .context = context};
  undead_crew_is_to_leave = 0;
  while (count < others && count < UNDEAD_MOST_CREW - 1 && permission != FORBIDDEN && add_crew_thread(count)) count++;
  if (permission == TRYING) permission = ALLOWED;
  if (!count) give_stacks_back();
  return count;
}

// What they wrote is visible: each ends by system calls, and the kernel clears the word behind them.
static void wait_for_all(void) {
  for (uint32_t i = 0; i < UNDEAD_MOST_CREW - 1; i++)
    while (__atomic_load_n(&crew.alive[i], __ATOMIC_ACQUIRE))
      undead_raw6(SYS_futex, (long)&crew.alive[i], FUTEX_WAIT, 1, 0, 0, 0);
}

void undead_crew_join(void) {
  wait_for_all();
  give_stacks_back();
  if (crew.crash_number) undead_helper_fault(crew.crash_number, crew.crash_address);
}

bool undead_crew_takes(uint32_t *lock) {
  enum { TURNS = 100 };
  for (uint32_t turns = 1; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); turns++) {
    if (undead_crew_leaves()) return false;
    if (turns % TURNS) undead_spin();
    else undead_raw3(SYS_sched_yield, 0, 0, 0);
  }
  return true;
}

static bool is_first_thread(void) { return undead_raw3(SYS_gettid, 0, 0, 0) == undead_raw3(SYS_getpid, 0, 0, 0); }

void undead_crew_crash(int number, uintptr_t address) {
  bool first = is_first_thread();
  int32_t none = 0;
  if (!first && __atomic_compare_exchange_n(&crew.crash_number, &none, number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    crew.crash_address = address;
  __atomic_store_n(&undead_crew_is_to_leave, 1, __ATOMIC_RELEASE);
  if (first) wait_for_all();
  else undead_raw3(SYS_exit, 0, 0, 0);
}

bool undead_crew_is_refused(int number, void *context) {
  if (number != SIGSYS || permission != TRYING || !is_first_thread()) return false;
  permission = FORBIDDEN;
  undead_context_set_result(context, -EPERM);
  return true;
}

bool undead_crew_gives_up(void) {
  if (permission != TRYING) return false;
  permission = FORBIDDEN;
  return true;
}
