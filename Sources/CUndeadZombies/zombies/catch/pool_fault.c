// What was done to a dead block of the pool shows where the access happened: by the name of the runtime's function, else by the
// part of the block.
#include "zombies/catch/pool_fault.h"
#include "zombies/fault.h"
#include "glibc/layout.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"
#include "platform/memory/memory.h"
#include "platform/memory/thread_state.h"
#include "platform/processor/words.h"
#include "platform/system/read_text.h"
#include "record/abandoned.h"
#include "runtime/abi.h"
#include "unwind/backtrace.h"
#include "unwind/pc_table.h"
#include "zombies/catch/stubs_x86_64.h"
#include "zombies/catch/watching_x86_64.h"
#include "zombies/functions/functions.h"
#include "zombies/kept/chosen.h"
#include "zombies/reports/log.h"
#include "zombies/reports/waiting.h"
#include "zombies/shared/state.h"
#include "zombies/classes/zombie_class.h"
#include "platform/system/text.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { POOL_FAULT_IS_WRITE = 2, FRAMES_LOOKED_AT = 6 };

static const struct {
  const char *prefix;
  undead_zombie_kind kind;
} functions[] = {
    {"swift_retain", UNDEAD_ZOMBIE_RETAIN},          {"swift_nonatomic_retain", UNDEAD_ZOMBIE_RETAIN},
    {"swift_bridgeObjectRetain", UNDEAD_ZOMBIE_RETAIN}, {"swift_nonatomic_bridgeObjectRetain", UNDEAD_ZOMBIE_RETAIN},
    {"swift_tryRetain", UNDEAD_ZOMBIE_RETAIN},       {"swift_weak", UNDEAD_ZOMBIE_RETAIN},
    {"swift_unownedRetainStrong", UNDEAD_ZOMBIE_UNOWNED}, {"swift_nonatomic_unownedRetainStrong", UNDEAD_ZOMBIE_UNOWNED},
    {"swift_unownedCheck", UNDEAD_ZOMBIE_UNOWNED},
    {"swift_unownedRetain", UNDEAD_ZOMBIE_RETAIN},   {"swift_unownedRelease", UNDEAD_ZOMBIE_RELEASE},
    {"swift_release", UNDEAD_ZOMBIE_RELEASE},        {"swift_nonatomic_release", UNDEAD_ZOMBIE_RELEASE},
    {"swift_bridgeObjectRelease", UNDEAD_ZOMBIE_RELEASE}, {"swift_nonatomic_bridgeObjectRelease", UNDEAD_ZOMBIE_RELEASE},
    {"swift_setDeallocating", UNDEAD_ZOMBIE_RELEASE}, {"swift_dealloc", UNDEAD_ZOMBIE_RELEASE},
    {"swift_dynamicCast", UNDEAD_ZOMBIE_CAST},       {"swift_conformsToProtocol", UNDEAD_ZOMBIE_CAST},
};

typedef struct {
  const void *runtime;     // where the library lies
  undead_zombie_kind kind;
} naming;

static undead_zombie_kind kind_of_function(const char *name) {
  for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++)
    if (undead_starts_with(name, functions[i].prefix)) return functions[i].kind;
  return 0;
}

// The innermost function of the runtime that has a name for what it does.
static void find_function(void *context, const uint32_t *indices, uint32_t count) {
  naming *self = context;
  Dl_info info;
  for (uint32_t i = 0; i < count && i < FRAMES_LOOKED_AT && !self->kind; i++) {
    const void *at = (const void *)(undead_pcs[indices[i]].pc - 1);
    if (!undead_find_address(at, &info) || info.dli_fbase != self->runtime) return;
    self->kind = kind_of_function(info.dli_sname);
  }
}

// Our own version of a function of the runtime's reads the class: then its caller is who uses the object.
static undead_zombie_kind kind_of_watching(undead_zombie_use *use) {
  uint32_t depth;
  undead_swift_function function = undead_watching_function_at(use->pc - 1, &depth);
  if (function == UNDEAD_SWIFT_FUNCTION_COUNT) return 0;
  use->pc = word_at(use->sp + depth);
  use->sp += depth + sizeof(uintptr_t);
  return undead_zombie_kind_of_function(function);
}

// A hook that was left by a jump, and whose frame may be gone, is none.
static bool is_in_hook(undead_frame at) { return undead_hook_is_under_way(&undead_thread, at); }

// free() and realloc() look at the block themselves: their caller uses it.
static undead_zombie_kind release_in_hook(undead_zombie_use *use) {
  const uintptr_t *frame = (const uintptr_t *)undead_thread.in_hook;
  use->pc = frame[1];
  use->sp = (uintptr_t)(frame + 2);
  use->bp = frame[0];
  return UNDEAD_ZOMBIE_RELEASE;
}

// The header of a block lies in front of it.
static bool asks_for_size(const undead_fenced_slot *slot, uintptr_t address, undead_frame at) {
  Dl_info info;
  if (address != slot->block - sizeof(uintptr_t)) return false;
  if (is_in_hook(at)) return true;
  return undead_find_address((const void *)(at.pc - 1), &info) && info.dli_sname && !strcmp(info.dli_sname, "malloc_usable_size");
}

static undead_zombie_kind kind_of_touch(undead_zombie_use *use, bool is_fence) {
  undead_zombie_kind watching = kind_of_watching(use);
  if (is_fence) return UNDEAD_ZOMBIE_OVERFLOW;
  if (use->class && use->class->is_context) return UNDEAD_ZOMBIE_CLOSURE;
  if (is_in_hook((undead_frame){use->pc, use->sp, use->bp})) return release_in_hook(use);
  if (watching) return watching;
  if (!use->class) return UNDEAD_ZOMBIE_FIELD;
  Dl_info info;
  naming found = {0};
  if (undead_find_address((const void *)undead_swift_real[UNDEAD_SWIFT_RETAIN], &info)) found.runtime = info.dli_fbase;
  undead_backtrace_walk(use->pc, use->sp, use->bp, find_function, &found);
  if (found.kind) return found.kind;
  return use->field_offset < ABI_OBJECT_REFCOUNT ? UNDEAD_ZOMBIE_METHOD : UNDEAD_ZOMBIE_FIELD;
}

// Sets the method that the isa was read for, if the code that follows shows it: `mov (object), isa`, and then a call, or a load of
// the method's address, through the isa. Bytes that are none of these would have to name a slot with a method.
static void find_method(undead_zombie_use *use, const uint8_t *code) {
  enum { LOAD = 0x8B, CALL = 0xFF, LOOKED_AT = 48, LONGEST = 9 };
  if (!undead_pages_are_readable((uintptr_t)code, LOOKED_AT + LONGEST)) return;
  uint8_t rex = (code[0] & 0xF0) == 0x40 ? *code++ : 0;
  if (code[0] != LOAD) return;
  unsigned isa = (code[1] >> 3 & 7) | (rex & 4) << 1;
  for (const uint8_t *start = code + 2, *at = start; at < start + LOOKED_AT; at++) {
    const uint8_t *op = (at[0] & 0xF0) == 0x40 ? at + 1 : at;
    unsigned base = (op[1] & 7) | (op > at ? at[0] & 1 : 0) << 3, mode = op[1] >> 6;
    bool is_call = op[0] == CALL && (op[1] >> 3 & 7) == 2;
    if ((!is_call && op[0] != LOAD) || base != isa || mode == 0 || mode == 3) continue;
    const uint8_t *displacement = op + ((base & 7) == 4 ? 3 : 2);
    int32_t offset = *(const int8_t *)displacement;
    if (mode == 2) memcpy(&offset, displacement, sizeof offset);
    uint32_t slot = (uint32_t)offset / 8;
    if (offset <= 0 || offset % 8 || slot >= use->class->slot_count) continue;
    if (!(use->class->methods[slot] & UNDEAD_SLOT_IS_METHOD)) continue;
    use->accessor = use->class->methods[slot] & ABI_METHOD_KIND_MASK;
    use->implementation = word_at(use->class->original + (uint32_t)offset);
    return;
  }
}

// MARK: Order

// When a thread of this process began, in nanoseconds of CLOCK_MONOTONIC; 0 if it is not known.
static uint64_t beginning_of(int32_t thread) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  uint64_t since_boot = undead_start_ticks(path) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
  uint64_t asleep = undead_nanoseconds(CLOCK_BOOTTIME) - undead_nanoseconds(CLOCK_MONOTONIC);
  return since_boot > asleep ? since_boot - asleep : 0;
}

// True if nothing shows that the death came before the use, but that it did: not one thread, task or actor; the thread that freed
// the block has not ended, and the one that uses it was there before.
static bool is_race(const undead_fenced_slot *slot) {
  enum { TICKS = 20000000 };   // nanoseconds: the clocks may differ by so much
  undead_fenced_actor user = undead_chosen_actor();
  const undead_fenced_actor *killer = &slot->killer;
  if (!slot->death || user.thread == killer->thread) return false;
  if (user.task && user.task == killer->task) return false;
  if (user.executor && user.executor == killer->executor) return false;
  if (syscall(SYS_tgkill, getpid(), killer->thread, 0) != 0) return false;
  return beginning_of(user.thread) + TICKS < slot->death;
}

// MARK: Reports

typedef struct {
  undead_frame place;    // its address is looked up at the byte before it
  const uint8_t *code;   // the instruction; NULL: a call of the system
  bool is_write;
} undead_fenced_access;

// A pointer to what had these pages before the block that died last: it leads to no part of that, or to a part that the runtime's
// function would not look at.
static bool is_older(const undead_zombie_use *use, const undead_fenced_slot *slot) {
  if (use->kind == UNDEAD_ZOMBIE_OVERFLOW) return false;
  // They look at the counts, ours at the class.
  bool counts = use->kind == UNDEAD_ZOMBIE_RETAIN || use->kind == UNDEAD_ZOMBIE_UNOWNED;
  if (counts && use->field_offset != ABI_OBJECT_REFCOUNT && use->field_offset != 0) return true;
  // In front of its header, too: the number has no sign.
  return use->field_offset + CHUNK_HEADER >= slot->fence - slot->block + CHUNK_HEADER;
}

static void report_fenced(uintptr_t address, const undead_fenced_access *access, const undead_fenced_slot *slot, bool is_fence) {
  undead_dead dead = {
      .object = slot->block,
      .class = slot->error ? slot->error : slot->isa ? undead_zombie_class_of(slot->isa) : NULL,
      .size = slot->size,
      .death = slot->death,
      .allocation = undead_chosen_keep(&slot->allocation),
      .deallocation = undead_chosen_keep(&slot->deallocation),
      .thread = slot->killer.place,
  };
  undead_zombie_use use = {
      .flags = UNDEAD_ZOMBIE_IS_GUARDED | (undead_zombies.sample ? UNDEAD_ZOMBIE_IS_SAMPLED : 0),
      .field_offset = (uint32_t)(address - slot->block),
      .object = slot->block,
      .class = dead.class,
      .type = "raw memory",
      .pc = access->place.pc,
      .sp = access->place.sp,
      .bp = access->place.bp,
      .dead = &dead,
  };
  if (access->is_write) use.flags |= UNDEAD_ZOMBIE_IS_WRITE;
  if (is_race(slot)) use.flags |= UNDEAD_ZOMBIE_IS_RACE;
  use.kind = access->code ? kind_of_touch(&use, is_fence) : is_fence ? UNDEAD_ZOMBIE_OVERFLOW : UNDEAD_ZOMBIE_FIELD;
  if (is_older(&use, slot)) {
    use.flags |= UNDEAD_ZOMBIE_IS_OLDER;
    use.object = address;
    use.class = NULL;
    dead = (undead_dead){.allocation = UNDEAD_BACKTRACE_NONE, .deallocation = UNDEAD_BACKTRACE_NONE};
  }
  if (use.kind == UNDEAD_ZOMBIE_METHOD && use.class) find_method(&use, access->code);
  if (use.kind != UNDEAD_ZOMBIE_FIELD && use.kind != UNDEAD_ZOMBIE_OVERFLOW && use.kind != UNDEAD_ZOMBIE_CLOSURE)
    use.field_offset = UNDEAD_ZOMBIE_NO_FIELD;
  undead_zombie_used(&use, true);
  undead_chosen_watch(slot);
}

static undead_fenced_answer fenced_used(uintptr_t address, const undead_fenced_access *access) {
  undead_fenced_slot slot;
  bool is_fence, is_open;
  // Another thread has opened the page since, or it is no block's.
  if (!undead_fenced_touched(address, &slot, &is_fence, &is_open)) return is_open ? UNDEAD_FENCED_IS_OPEN : UNDEAD_FENCED_ENDS;
  if (is_open && is_fence && access->code && asks_for_size(&slot, address, access->place)) return UNDEAD_FENCED_GOES_ON;
  if (undead_zombies.active) report_fenced(address, access, &slot, is_fence);
  if (is_open && (!undead_zombies.active || undead_zombies.policy != UNDEAD_ZOMBIE_TRAP)) return UNDEAD_FENCED_GOES_ON;
  if (!undead_zombies.active) return UNDEAD_FENCED_ENDS;
  undead_zombie_log_signal(SIGSEGV);
  undead_zombies.dying = true;
  undead_fenced_close(address);
  return UNDEAD_FENCED_ENDS;
}

undead_fenced_answer undead_fenced_fault(const siginfo_t *info, const ucontext_t *context) {
  const greg_t *registers = context->uc_mcontext.gregs;
  uintptr_t address = (uintptr_t)info->si_addr;
  if (!undead_fenced_holds(address)) return UNDEAD_FENCED_NOT_MET;
  undead_fenced_access access = {
      .place = {(uintptr_t)registers[REG_RIP] + 1, (uintptr_t)registers[REG_RSP], (uintptr_t)registers[REG_RBP]},
      .code = (const uint8_t *)registers[REG_RIP],
      .is_write = registers[REG_ERR] & POOL_FAULT_IS_WRITE,
  };
  return fenced_used(address, &access);
}

bool undead_fault_before_call(uintptr_t address, bool is_write, undead_frame caller) {
  undead_fenced_access access = {.place = caller, .is_write = is_write};
  // A crash reporter reads all memory.
  if (!undead_fenced_holds(address) || undead_zombies.dying || undead_fenced_is_open(address)) return false;
  int saved = errno;
  bool goes_on = fenced_used(address, &access) == UNDEAD_FENCED_GOES_ON;
  errno = saved;
  // The program is to end here, as at an access of its own.
  if (!goes_on && undead_zombies.dying) (void)*(volatile const char *)address;
  return goes_on;
}
