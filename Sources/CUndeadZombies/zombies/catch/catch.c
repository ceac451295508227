// What the stubs call: a message to a dead object, its destruction, or one of the runtime's functions on it.
#include "platform/processor/processor.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "zombies/functions/functions.h"
#include "zombies/reports/log.h"
#include "zombies/reports/report.h"
#include "zombies/shared/state.h"
#include "zombies/catch/stubs_x86_64.h"
#include "zombies/shared/threads.h"
#include "zombies/catch/unowned_field.h"
#include "zombies/reports/waiting.h"
#include "zombies/classes/zombie_class.h"
#include <signal.h>
#include <stddef.h>

static bool stops(void) { return undead_zombies.policy == UNDEAD_ZOMBIE_TRAP && undead_zombies.active; }

// Ends here if that is the policy; else goes on with `target`.
static uintptr_t go_on(uintptr_t target) {
  if (!stops()) return target;
  undead_zombie_log_signal(SIGILL);
  undead_zombies.dying = true;
  return UNDEAD_STOP_HERE;
}

// Where the slot leads to in the class of the living.
static uintptr_t function_in(uintptr_t isa, uint32_t slot, bool by_record) {
  uintptr_t entry = word_at(isa + slot * 8ul);
  return by_record ? entry + (uintptr_t)(intptr_t)((const undead_method_record *)entry)->function : entry;
}

// Of setters none is asynchronous, and what comes behind them is a coroutine.
static bool is_coroutine(uint8_t method) { return (method & ABI_METHOD_KIND_MASK) > ABI_METHOD_KIND_GETTER; }

static uintptr_t message(undead_message_registers *registers, uint32_t slot, bool by_record) {
  uintptr_t self = registers->self;
  bool to_type = undead_is_zombie_isa(self);
  const undead_zombie_class *class = undead_zombie_class_of_isa(to_type ? self : word_at(self));
  // Between the call and this moment the object may have been freed for good.
  if (!class || slot >= class->slot_count) return function_in(to_type ? self : word_at(self), slot, by_record);
  bool async = by_record && !is_coroutine(class->methods[slot]);
  undead_zombie_use use = {
      .kind = UNDEAD_ZOMBIE_METHOD,
      .flags = (to_type ? UNDEAD_ZOMBIE_IS_CLASS_METHOD : 0) | (async ? UNDEAD_ZOMBIE_IS_ASYNC : 0),
      .accessor = class->methods[slot] & ABI_METHOD_KIND_MASK,
      .field_offset = UNDEAD_ZOMBIE_NO_FIELD,
      .object = to_type ? 0 : self,
      .implementation = function_in(class->original, slot, by_record),
      .class = class,
      .pc = registers->pc,
      .sp = registers->sp,
      .bp = registers->bp,
      .async_context = async ? (const uintptr_t *)registers->async_context : NULL,
  };
  undead_zombie_used(&use, false);
  if (to_type) registers->self = class->original;
  return go_on(use.implementation);
}

uintptr_t undead_zombie_message(undead_message_registers *registers, uint32_t slot) {
  return message(registers, slot, false);
}

uintptr_t undead_zombie_record_message(undead_message_registers *registers, uint32_t slot) {
  return message(registers, slot, true);
}

static undead_zombie_use use_of(undead_zombie_kind kind, const undead_zombie_class *class, uintptr_t object,
                                uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  return (undead_zombie_use){
      .kind = class->is_context ? UNDEAD_ZOMBIE_CLOSURE : kind,
      .field_offset = UNDEAD_ZOMBIE_NO_FIELD,
      .object = object,
      .class = class,
      .pc = pc,
      .sp = sp,
      .bp = bp,
  };
}

uintptr_t undead_zombie_destroyed(uintptr_t object, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  const undead_zombie_class *class = undead_zombie_class_of_isa(word_at(object));
  if (!class) return 0;
  undead_zombie_use use = use_of(UNDEAD_ZOMBIE_RELEASE, class, object, pc, sp, bp);
  undead_zombie_used(&use, false);
  return go_on(0);
}

undead_zombie_kind undead_zombie_kind_of_function(undead_swift_function function) {
  if (function >= UNDEAD_SWIFT_DYNAMIC_CAST_CLASS) return UNDEAD_ZOMBIE_CAST;
  if (function >= UNDEAD_SWIFT_UNOWNED_RETAIN_STRONG) return UNDEAD_ZOMBIE_UNOWNED;
  return function >= UNDEAD_SWIFT_RELEASE ? UNDEAD_ZOMBIE_RELEASE : UNDEAD_ZOMBIE_RETAIN;
}

uintptr_t undead_zombie_touched(uintptr_t object, uint32_t function, uintptr_t pc, uintptr_t sp, uintptr_t bp,
                                const undead_kept_registers *kept) {
  if ((intptr_t)object <= 0) return undead_swift_real[function];
  object &= UNDEAD_REFERENCE_BITS;
  undead_zombie_kind kind = undead_zombie_kind_of_function(function);
  const undead_zombie_class *class = undead_zombie_class_of_isa(word_at(object));
  if (!class) return undead_zombie_waits_no_longer() ? go_on(undead_swift_real[function]) : undead_swift_real[function];
  undead_zombie_use use = use_of(kind, class, object, pc, sp, bp);
  // Retaining and releasing what is dead changes nothing: the budget alone decides how long it is kept.
  if (use.kind == UNDEAD_ZOMBIE_RETAIN) return undead_zombie_retained(&use) ? go_on(0) : 0;
  if (use.kind == UNDEAD_ZOMBIE_RELEASE) return undead_zombie_released(&use) ? go_on(0) : 0;
  if (use.kind == UNDEAD_ZOMBIE_UNOWNED) {
    undead_unowned_field found = undead_find_unowned_field(object, pc, sp, bp, kept);
    use.owner = found.isa;
    use.owner_field = found.field;
  }
  undead_zombie_used(&use, false);
  // The runtime itself stops the program, with a message of its own.
  if (kind == UNDEAD_ZOMBIE_UNOWNED) return undead_swift_real[function];
  return go_on(kind == UNDEAD_ZOMBIE_CAST ? undead_swift_real[function] : 0);
}
