#include "zombies/fault.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "record/registry.h"
#include "zombies/catch/caught_copy_x86_64.h"
#include "zombies/catch/pool_fault.h"
#include "zombies/kept/guard_pages.h"
#include "zombies/kept/pool.h"
#include "zombies/reports/log.h"
#include "zombies/reports/report.h"
#include "zombies/shared/state.h"
#include "zombies/shared/threads.h"
#include "zombies/reports/waiting.h"
#include <errno.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

// glibc's own function: sigaction() is ours (session/signals/signal_functions.c).
extern int __sigaction(int signal, const struct sigaction *action, struct sigaction *old);

enum { SIGNALS = 2, FAULT_IS_WRITE = 2 };
static const int handled[SIGNALS] = {SIGSEGV, SIGBUS};   // a bad address on the way through rbp or rsp is a SIGBUS

static struct sigaction programs[SIGNALS];   // the program's actions
static bool installed;

static int index_of(int signal) { return signal == handled[0] ? 0 : signal == handled[1] ? 1 : -1; }

static const int registers_looked_at[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_R8, REG_R9,
                                          REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
enum { REGISTER_COUNT = sizeof registers_looked_at / sizeof *registers_looked_at };

static undead_zombie_use use_at(const ucontext_t *context, const undead_dead *dead, uint32_t offset) {
  const greg_t *registers = context->uc_mcontext.gregs;
  return (undead_zombie_use){
      .kind = dead->class->is_context ? UNDEAD_ZOMBIE_CLOSURE : UNDEAD_ZOMBIE_FIELD,
      .field_offset = offset,
      .object = dead->object,
      .class = dead->class,
      // Frames are looked up at the byte before their address.
      .pc = (uintptr_t)registers[REG_RIP] + 1,
      .sp = (uintptr_t)registers[REG_RSP],
      .bp = (uintptr_t)registers[REG_RBP],
      .dead = dead,
  };
}

// A protected field was used. True if the program can go on.
static bool guard_fault(const siginfo_t *info, const ucontext_t *context, uintptr_t object) {
  undead_dead dead;
  bool kept = undead_quarantine_find(object, &dead);
  if (kept || undead_quarantine_find_gone(object, &dead)) {
    undead_zombie_use use = use_at(context, &dead, (uint32_t)((uintptr_t)info->si_addr - object));
    use.flags = UNDEAD_ZOMBIE_IS_GUARDED | (kept ? 0 : UNDEAD_ZOMBIE_IS_EVICTED);
    if (context->uc_mcontext.gregs[REG_ERR] & FAULT_IS_WRITE) use.flags |= UNDEAD_ZOMBIE_IS_WRITE;
    undead_zombie_used(&use, true);
    if (undead_zombies.policy == UNDEAD_ZOMBIE_TRAP && undead_zombies.active) {
      undead_zombie_log_signal(SIGSEGV);
      undead_zombies.dying = true;
      return false;
    }
  }
  return kept ? undead_guard_open(object) : undead_guard_expose(object);
}

// A word of a dead object was used as a reference: it is still in a register.
static bool scribble_fault(int signal, const ucontext_t *context) {
  for (int i = 0; i < REGISTER_COUNT; i++) {
    undead_dead dead;
    uint32_t offset;
    uint64_t word = (uint64_t)context->uc_mcontext.gregs[registers_looked_at[i]];
    if (!undead_quarantine_find_scribble(word, &dead, &offset)) continue;
    undead_zombie_use use = use_at(context, &dead, offset);
    undead_zombie_used(&use, true);
    undead_zombie_log_signal(signal);
    undead_zombies.dying = true;
    return true;
  }
  return false;
}

// True if the block at `address` was given back, and to nobody since.
static bool is_free(uintptr_t address) {
  const uint32_t *slot = undead_registry_slot(address);
  return slot && *slot == 0;
}

// An object that left the quarantine, whose memory nobody has got since: one register still has its address, and
// another the word that stands there now, so the program has just read it.
static void tombstone_fault(int signal, const ucontext_t *context) {
  const greg_t *registers = context->uc_mcontext.gregs;
  for (int i = 0; i < REGISTER_COUNT; i++) {
    undead_dead dead;
    uintptr_t address = (uintptr_t)registers[registers_looked_at[i]];
    if (!undead_quarantine_find_gone(address, &dead) || !is_free(address)) continue;
    if (!undead_page_is_readable(address)) continue;
    greg_t word = *(const greg_t *)address;
    for (int k = 0; word && k < REGISTER_COUNT; k++) {
      if (k == i || registers[registers_looked_at[k]] != word) continue;
      undead_zombie_use use = use_at(context, &dead, UNDEAD_ZOMBIE_NO_FIELD);
      if (!dead.class->is_context) use.kind = UNDEAD_ZOMBIE_METHOD;
      use.flags = UNDEAD_ZOMBIE_IS_EVICTED;
      undead_zombie_used(&use, true);
      undead_zombie_log_signal(signal);
      undead_zombies.dying = true;
      return;
    }
  }
}

static bool is_our_own(const ucontext_t *context) {
  const greg_t *registers = context->uc_mcontext.gregs;
  return undead_zombie_self.inside &&
         undead_zombie_is_inside((undead_frame){(uintptr_t)registers[REG_RIP] + 1, (uintptr_t)registers[REG_RSP],
                                                (uintptr_t)registers[REG_RBP]});
}

// The page is open for all that is known: another thread has opened it since, and the access succeeds now. Or the program has
// closed memory of its own that lies there, and handles its faults: then it comes again while no page was given to another block.
static bool succeeds_now(const siginfo_t *info, const ucontext_t *context) {
  uintptr_t place = (uintptr_t)context->uc_mcontext.gregs[REG_RIP] ^ (uintptr_t)info->si_addr;
  undead_fenced_counters pool;
  undead_guard_counters guard;
  undead_fenced_read_counters(&pool);
  undead_guard_read_counters(&guard);
  place ^= (pool.chosen + guard.guarded) << UNDEAD_ADDRESS_BITS;
  bool again = undead_zombie_self.last_fault == place;
  undead_zombie_self.last_fault = again ? 0 : place;
  return !again;
}

// True if the program can go on.
static bool look_at_fault(int signal, const siginfo_t *info, const ucontext_t *context) {
  // Sent by somebody; a fault of our own; or one of a crash reporter, which reads all memory.
  if (info->si_code <= 0 || undead_zombies.dying || is_our_own(context)) return false;
  undead_fenced_answer answer = signal == SIGSEGV ? undead_fenced_fault(info, context) : UNDEAD_FENCED_NOT_MET;
  if (answer == UNDEAD_FENCED_IS_OPEN) return succeeds_now(info, context);
  if (answer != UNDEAD_FENCED_NOT_MET) return answer == UNDEAD_FENCED_GOES_ON;
  uintptr_t object = undead_guard_object((uintptr_t)info->si_addr);
  if (signal == SIGSEGV && object) return guard_fault(info, context, object);
  if (signal == SIGSEGV && undead_guard_is_open((uintptr_t)info->si_addr)) return succeeds_now(info, context);
  if (!scribble_fault(signal, context)) tombstone_fault(signal, context);
  undead_zombie_settle(false, true);
  return false;
}

bool undead_fault_copy(void *to, const void *from, size_t size) {
  undead_thread_let_faults_in();
  if (undead_zombie_self.faults == UNDEAD_FAULTS_LET_IN) return undead_caught_copy(to, from, size / sizeof(uint64_t));
  return undead_copy_memory((uintptr_t)from, to, size);
}

static void on_fault(int signal, siginfo_t *info, void *context);

// What the kernel is to know of the program's action: its mask and flags, with our function.
static void put_in_front(int index) {
  const struct sigaction *program = &programs[index];
  bool handles = program->sa_handler != SIG_DFL && program->sa_handler != SIG_IGN;
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
  if (handles) {
    action.sa_mask = program->sa_mask;
    action.sa_flags |= program->sa_flags & (SA_NODEFER | SA_RESTART);
  }
  action.sa_sigaction = on_fault;
  __sigaction(handled[index], &action, NULL);
}

// Does what the program's own action would have done.
static void forward(int signal, siginfo_t *info, void *context) {
  struct sigaction action = programs[index_of(signal)];
  bool is_fault = info->si_code > 0;
  if (action.sa_handler == SIG_IGN && !is_fault) return;
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
    struct sigaction end = {.sa_handler = SIG_DFL};
    __sigaction(signal, &end, NULL);
    // A fault happens again when the handler returns; a signal that was sent does not.
    if (!is_fault) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
    return;
  }
  if (action.sa_flags & SA_RESETHAND) programs[index_of(signal)].sa_handler = SIG_DFL;
  undead_faults_state before = undead_zombie_self.faults;
  undead_zombie_self.faults = UNDEAD_FAULTS_HELD;
  // Another thread may be setting the action: a handler of the other kind does without two of the arguments.
  action.sa_sigaction(signal, info, context);
  undead_zombie_self.faults = before;
}

static void on_fault(int signal, siginfo_t *info, void *context) {
  if (info->si_code > 0 && undead_caught_copy_ends(context)) return;
  int saved = errno;
  bool goes_on = look_at_fault(signal, info, context);
  errno = saved;
  if (!goes_on) forward(signal, info, context);
}

// A handler that was there before blocks no fault of ours.
static void unblock_in_handlers(void) {
  struct sigaction action;
  for (int signal = 1; signal < NSIG; signal++)
    if (index_of(signal) < 0 && __sigaction(signal, NULL, &action) == 0 && undead_fault_unblock(&action.sa_mask))
      __sigaction(signal, &action, NULL);
}

void undead_fault_handlers_install(void) {
  if (installed) return;
  installed = true;
  undead_thread_let_faults_in();
  unblock_in_handlers();
  for (int i = 0; i < SIGNALS; i++) {
    __sigaction(handled[i], NULL, &programs[i]);
    put_in_front(i);
  }
}

bool undead_fault_unblock(sigset_t *set) {
  bool any = false;
  for (int i = 0; installed && i < SIGNALS; i++) any |= sigismember(set, handled[i]) == 1 && sigdelset(set, handled[i]) == 0;
  return any;
}

bool undead_fault_keep(int signal, const struct sigaction *action, struct sigaction *old, int *result) {
  int index = index_of(signal);
  if (!installed || index < 0) return false;
  // The caller may use one structure for both.
  struct sigaction before = programs[index];
  if (action) {
    programs[index] = *action;
    put_in_front(index);
  }
  if (old) *old = before;
  *result = 0;
  return true;
}
