// Functions whose frames wait in a call: an object that such a function allocated may be in use there without being owned
// (quiet.h).
#include "scan/stacks/quiet.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "unwind/backtrace.h"
#include <string.h>

enum { MOST_FUNCTIONS = 2048, FRAMES = 16, CACHE = 256 };

static struct {
  bool ends;
  bool lock;                              // several threads may mark
  uint32_t count;                         // more than there is room for: any function may wait
  uintptr_t functions[MOST_FUNCTIONS];    // where they start
  struct { uint32_t backtrace; bool borrowed; } cache[CACHE];
} waiting;

void undead_borrowed_begin(bool ends) {
  waiting.ends = ends;
  waiting.count = 0;
  memset(waiting.cache, 0, sizeof waiting.cache);
}

static bool waits(uintptr_t function) {
  if (waiting.count > MOST_FUNCTIONS) return true;
  for (uint32_t i = 0; i < waiting.count; i++)
    if (waiting.functions[i] == function) return true;
  return false;
}

void undead_borrowed_add(uintptr_t pc) {
  uintptr_t start = 0;
  if (!undead_symbol_name(pc, &start)[0] || waits(start)) return;
  if (waiting.count < MOST_FUNCTIONS) waiting.functions[waiting.count] = start;
  waiting.count++;
}

// "Ya" stands in the type of a function that is asynchronous, and so in the names of its pieces. Any other name with these letters
// costs a leak that a frame names.
static bool find_borrowed(uint32_t backtrace) {
  uintptr_t frames[FRAMES], start = 0;
  uint32_t count = undead_backtrace_frames(backtrace, frames, FRAMES);
  for (uint32_t i = 0; i < count; i++) {
    const undead_module *module = undead_module_of(frames[i] - 1);
    if (module && module->toolchain) continue;   // it was called by what allocates
    const char *name = undead_symbol_name(frames[i] - 1, &start);
    return waits(start) || (!waiting.ends && (!name[0] || strstr(name, "Ya")));
  }
  return true;
}

bool undead_may_be_borrowed(uint32_t backtrace) {
  if (waiting.ends && !waiting.count) return false;
  if (!backtrace) return true;   // by which function is unknown
  while (__atomic_test_and_set(&waiting.lock, __ATOMIC_ACQUIRE)) undead_spin();
  uint32_t slot = backtrace % CACHE;
  if (waiting.cache[slot].backtrace != backtrace) {
    waiting.cache[slot].borrowed = find_borrowed(backtrace);
    waiting.cache[slot].backtrace = backtrace;
  }
  bool borrowed = waiting.cache[slot].borrowed;
  __atomic_clear(&waiting.lock, __ATOMIC_RELEASE);
  return borrowed;
}
