#include "world/helper.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/system/clock.h"
#include "world/helper/clone.h"
#include "world/crew.h"
#include "world/given.h"
#include "platform/processor/processor.h"
#include "world/helper/keys.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define STACK_BYTES (1u << 20)
#define GUARD_BYTES 4096u

typedef struct {
  uint32_t alive;              // the kernel clears it when the helper is gone
  int32_t pid;
  int32_t owner;               // pid of the program
  int (*work)(void *);
  void *context;
} helper_state;

static helper_state helper;

static int kept_file = -1;

void undead_helper_keep(int file) { kept_file = file; }

static int32_t helper_pid(void) { return __atomic_load_n(&helper.pid, __ATOMIC_ACQUIRE); }

static void helper_crashed(int number, siginfo_t *info, void *context) {
  if (undead_crew_is_refused(number, context)) return;
  undead_crew_crash(number, (uintptr_t)info->si_addr);
  undead_helper_fault(number, (uintptr_t)info->si_addr);
}

_Noreturn void undead_helper_crash(const undead_helper_report *report) {
  undead_raw3(SYS_exit_group, UNDEAD_CRASH_EXIT + report->value, 0, 0);
  __builtin_unreachable();
}

// Yama lets a process trace its descendants only, unless they say whom they allow
// (Documentation/admin-guide/LSM/Yama.rst of the kernel). What the program has said stands there again afterwards.
static long program_tracer;

void undead_helper_note_tracer(long pid) { program_tracer = pid; }

static bool is_permission_needed(void) {
  const char path[] = "/proc/sys/kernel/yama/ptrace_scope";
  long file = undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return file != -ENOENT && file != -ENOTDIR;
  char scope = '1';
  undead_raw3(SYS_read, file, (long)&scope, 1);
  undead_raw3(SYS_close, file, 0, 0);
  return scope == '1' && program_tracer != (long)PR_SET_PTRACER_ANY;
}

static void set_tracer(long pid) { undead_raw6(SYS_prctl, PR_SET_PTRACER, pid, 0, 0, 0, 0); }

static int helper_main(void *context) {
  (void)context;
  undead_raw3(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
  if (undead_raw3(SYS_getppid, 0, 0, 0) != helper.owner) return 1;
  undead_take_over_faults(helper_crashed);
  undead_unlock_keys();
  while (!helper_pid()) undead_raw3(SYS_sched_yield, 0, 0, 0);   // until we may trace our parent
  // The copies of the program's descriptors would keep its pipes open.
  if (kept_file > 0) undead_raw3(SYS_close_range, 0, kept_file - 1, 0);
  undead_raw3(SYS_close_range, kept_file + 1, ~0u, 0);
  return helper.work(helper.context);
}

static undead_helper_report report_of(int status) {
  undead_helper_report report = {UNDEAD_HELPER_DONE, 0, 0};
  if (WIFSIGNALED(status)) {
    report.end = UNDEAD_HELPER_KILLED;
    report.value = WTERMSIG(status);
  } else if (WEXITSTATUS(status) > UNDEAD_CRASH_EXIT) {
    report.end = UNDEAD_HELPER_CRASHED;
    report.value = WEXITSTATUS(status) - UNDEAD_CRASH_EXIT;
    report.fault = *undead_crash_address;
  } else {
    report.value = WEXITSTATUS(status);
  }
  return report;
}

static undead_helper_report wait_for_helper(long pid, uint32_t seconds) {
  uint64_t deadline = undead_now() + (uint64_t)seconds * 1000000000u;
  bool late = false;
  for (uint32_t alive; (alive = __atomic_load_n(&helper.alive, __ATOMIC_ACQUIRE)) != 0;) {
    uint64_t now = undead_now();
    if (now >= deadline) {
      late = true;
      undead_raw3(SYS_kill, pid, SIGKILL, 0);
      break;
    }
    struct timespec rest = {(time_t)((deadline - now) / 1000000000u), (long)((deadline - now) % 1000000000u)};
    undead_raw6(SYS_futex, (long)&helper.alive, FUTEX_WAIT, alive, (long)&rest, 0, 0);
  }
  int status = 0;
  long reaped;
  do reaped = undead_raw4(SYS_wait4, pid, (long)&status, __WALL, 0);
  while (reaped == -EINTR);
  undead_helper_report report = report_of(status);
  // A program that waits with __WALL itself may have reaped it: what it returned is then unknown.
  if (reaped < 0) report = (undead_helper_report){UNDEAD_HELPER_KILLED, SIGKILL, 0};
  if (late) report.end = UNDEAD_HELPER_TIMEOUT;
  return report;
}

undead_helper_report undead_helper_run(int (*work)(void *), void *context, uint32_t seconds) {
  if (undead_given()) return undead_helper_run_in_place(work, context);
  if (!undead_crash_address) undead_crash_address = undead_map_shared(sizeof *undead_crash_address);
  char *stack = undead_crash_address ? undead_map(STACK_BYTES) : NULL;
  if (!stack) return (undead_helper_report){UNDEAD_HELPER_DENIED, ENOMEM, 0};
  undead_helper_before_crash(NULL, NULL);
  mprotect(stack, GUARD_BYTES, PROT_NONE);
  helper = (helper_state){.alive = 1, .work = work, .context = context};
  helper.owner = (int32_t)undead_raw3(SYS_getpid, 0, 0, 0);

  uint64_t all = ~0ull, before;
  undead_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, 8);
  long pid = undead_clone_on_stack(0, stack + STACK_BYTES, &helper.alive, helper_main);
  undead_helper_report report = {UNDEAD_HELPER_DENIED, (int)-pid, 0};
  if (pid > 0) {
    bool permit = is_permission_needed();
    if (permit) set_tracer(pid);
    __atomic_store_n(&helper.pid, (int32_t)pid, __ATOMIC_RELEASE);
    report = wait_for_helper(pid, seconds);
    if (permit) set_tracer(program_tracer);
    __atomic_store_n(&helper.pid, 0, __ATOMIC_RELEASE);
  }
  undead_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, 8);
  undead_unmap(stack, STACK_BYTES);
  return report;
}

// Where memory is short the kernel ends who has most of it: that is to be the copy, not the program.
static void offer_to_the_oom_killer(void) {
  const char path[] = "/proc/self/oom_score_adj", most[] = "1000";
  long file = undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CLOEXEC, 0);
  if (file < 0) return;
  undead_raw3(SYS_write, file, (long)most, sizeof most - 1);
  undead_raw3(SYS_close, file, 0, 0);
}

long undead_helper_copy(int (*work)(void *), void *context) {
  long pid = undead_raw6(SYS_clone, CLONE_UNTRACED, 0, 0, 0, 0, 0);
  if (pid != 0) return pid;
  undead_helper_before_crash(NULL, NULL);
  undead_raw3(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0);
  offer_to_the_oom_killer();
  undead_raw3(SYS_exit_group, work(context), 0, 0);
  __builtin_unreachable();
}

undead_helper_report undead_helper_wait_copy(long pid) {
  int status = 0;
  long reaped;
  do reaped = undead_raw4(SYS_wait4, pid, (long)&status, __WALL, 0);
  while (reaped == -EINTR);
  return report_of(status);
}
