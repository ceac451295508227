// Premises: what the instrument takes for granted about the Swift runtime and the C library. Each is checked in this very process
// before its first scan, against objects whose contents are known: metadata that the runtime exports, and objects that its own
// functions make and count. Where one does not hold, an answer that rests on it is refused (scan/premises.h).
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Which answers rest on a premise.
typedef enum {
  UNDEAD_PREMISE_LEAKS,      // what is leaked
  UNDEAD_PREMISE_NAMES,      // names of types, fields and frames alone
  UNDEAD_PREMISE_ZOMBIES,    // uses of dead objects alone
} undead_premise_use;
#define UNDEAD_PREMISE_USES 3

typedef struct {
  uint32_t checked;                        // premises that there was something to check against
  uint32_t absent;                         // groups of premises without anything
  uint32_t failed[UNDEAD_PREMISE_USES];
  const char *first[UNDEAD_PREMISE_USES];  // the first of these that failed, as words for a sentence; NULL if none did
} undead_premises;

static inline void undead_premise(undead_premises *premises, undead_premise_use use, bool holds, const char *what) {
  premises->checked++;
  if (holds) return;
  if (!premises->failed[use]++) premises->first[use] = what;
}

// Those of the Swift runtime. On the check's thread, with the program running and the memory map read: asks the runtime, whose
// functions allocate and whose tables grow. In a copy, whose blocks were listed before, only what needs neither is checked. The
// runtime has been found (undead_runtime_find).
void undead_premises_of_runtime(undead_premises *premises, bool may_allocate);
// Whether what is read of a closure's metadata, which was recognised as such, can be true: no class of the runtime has any, but
// those of the program's closures do. Takes no lock.
bool undead_premise_of_context(uintptr_t isa);
// The version of the runtime as it says it, times 0x100 ("6.3.1" is 0x060301); 0 if it does not.
uint32_t undead_runtime_version(void);
