#include "scan/bodies/makers.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "runtime/layout.h"
#include "runtime/runtime.h"
#include <string.h>

// Where the runtime has its functions: to look for a name in its table takes two milliseconds, and each scan asks.
static struct {
  uintptr_t runtime;   // a function of the one that was asked about
  undead_interval raw[2], objects[3];
} known;

// Of the runtime's own module: other definitions of a name come before it, our own among them.
static undead_interval function(const char *name) {
  size_t size = 0;
  uintptr_t start = undead_symbol_address(undead_module_of(known.runtime), name, &size);
  return (undead_interval){start, start + size};
}

// One that the runtime does not export.
static undead_interval function_beside(undead_interval other, const char *name) {
  size_t size = 0;
  uintptr_t start = undead_symbol_beside(undead_module_of(known.runtime), other.low, name, &size);
  return (undead_interval){start, start + size};
}

// HeapObject.cpp, Heap.cpp (Swift 6): everything else in the runtime makes objects by swift_allocObject, which calls the
// second of them where somebody replaced it.
static void look_up(void) {
  uintptr_t runtime = (uintptr_t)undead_runtime.type_by_mangled_name;
  if (known.runtime == runtime || !undead_module_of(runtime)) return;
  known.runtime = runtime;
  known.raw[0] = function("swift_slowAlloc");
  known.raw[1] = function_beside(known.raw[0], "_ZN5swift20swift_slowAllocTypedEmmy");
  known.objects[0] = function("swift_allocObject");
  known.objects[1] = function_beside(known.objects[0], "__swift_allocObject_");
  known.objects[2] = function("swift_bufferAllocate");
}

void undead_makers_open(undead_makers *makers) {
  if (!undead_runtime_find()) return;
  look_up();
  *makers = (undead_makers){0};
  memcpy(makers->raw, known.raw, sizeof makers->raw);
  memcpy(makers->objects, known.objects, sizeof makers->objects);
}

// A return address may be the first one behind the function.
static bool is_behind_call_in(const undead_interval *functions, int count, uintptr_t address) {
  for (int i = 0; i < count; i++)
    if (address > functions[i].low && address <= functions[i].high) return true;
  return false;
}

static bool find_raw(const undead_makers *makers, uint32_t backtrace) {
  uintptr_t frames[3];   // as many as undead_backtrace_run is for
  uint32_t count = undead_backtrace_frames(backtrace, frames, 3), i = 0;
  while (i < count && is_behind_call_in(makers->raw, 2, frames[i])) i++;
  return i < count && !is_behind_call_in(makers->objects, 3, frames[i]);
}

static bool find_by_run(undead_makers *makers, uint32_t backtrace) {
  uint32_t run = undead_backtrace_run(backtrace), slot = undead_maker_slot(run);
  if (!run) return find_raw(makers, backtrace);
  if (makers->runs[slot].run != run) {
    makers->runs[slot].raw = find_raw(makers, backtrace);
    makers->runs[slot].run = run;
  }
  return makers->runs[slot].raw;
}

bool undead_find_maker(undead_makers *makers, uint32_t backtrace) {
  if (!makers->raw[0].low || !makers->objects[0].low || !backtrace) return false;
  uint32_t slot = undead_maker_slot(backtrace);
  makers->cache[slot].raw = find_by_run(makers, backtrace);
  makers->cache[slot].backtrace = backtrace;
  return makers->cache[slot].raw;
}
