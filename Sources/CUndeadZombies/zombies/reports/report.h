// A use of a dead object, on its way to the log and to the handler.
#pragma once
#include "zombies/kept/quarantine.h"

#pragma GCC visibility push(hidden)

typedef struct {
  undead_zombie_kind kind;
  uint32_t flags, accessor, field_offset;   // as in undead_zombie
  uintptr_t object;
  uintptr_t implementation;
  const undead_zombie_class *class;         // NULL: not known, then `type` says what the object was
  const char *type;
  uintptr_t pc, sp, bp;                     // where: the return address, and the caller's registers behind it
  const uintptr_t *async_context;           // of an async method, else NULL
  const undead_dead *dead;                  // what is known of the object, NULL: to be looked up
  uintptr_t owner;                          // unowned: isa of the object that has `owner_field`; 0: not known
  const char *owner_field;
} undead_zombie_use;

// One report in memory of its own, in the log already.
typedef struct undead_zombie_finding undead_zombie_finding;
// NULL without memory.
undead_zombie_finding *undead_zombie_finding_make(const undead_zombie_use *use, uint64_t count);
// Calls the program's handler, and frees the finding. In a handler of a signal, one of sampled zombies waits for
// undead_zombies_wait; others are in the log only.
void undead_zombie_finding_deliver(undead_zombie_finding *finding, bool in_signal);
void undead_zombie_finding_drop(undead_zombie_finding *finding);   // frees it

#pragma GCC visibility pop
