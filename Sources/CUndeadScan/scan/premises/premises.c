// Checks all premises (runtime/premises.h) and keeps the result: those of the runtime below, those of the C library and of
// libdispatch here. They are checked once: what is loaded later cannot be another runtime or another C library.
#include "scan/premises.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "runtime/layout.h"
#include "runtime/runtime.h"
#include "scan/blocks/arenas.h"
#include "scan/premises/premises_internal.h"
#include "world/given.h"
#include "world/images.h"
#include <gnu/libc-version.h>
#include <stdio.h>

static undead_premises result;
static bool checked;
static uintptr_t native_witnesses;

// False if nothing can be read. That says nothing of the runtime, and may be otherwise at the next check.
static bool check(void) {
  undead_images_refresh();
  undead_arenas_learn();
  undead_premises before = result;
  // What the runtime makes for the premises may lie in memory that malloc maps meanwhile: then a newer map shows it.
  for (int attempt = 0; attempt < 2; attempt++) {
    if (!undead_maps_refresh()) return false;
    result = before;
    undead_premises_of_runtime(&result, !undead_given());
    bool failed = false;
    for (int use = 0; use < UNDEAD_PREMISE_USES; use++) failed |= result.failed[use] != before.failed[use];
    if (!failed) break;
  }
  // Of a copy of a program malloc's own tables were read, and fitted; its threads are not there.
  if (!result.failed[UNDEAD_PREMISE_LEAKS] && !undead_given()) {
    undead_premises_of_allocator(&result);
    undead_premises_of_dispatch(&result);
  }
  native_witnesses =
    undead_symbol_address(undead_module_of((uintptr_t)undead_runtime.type_by_mangled_name), "$sBoWV", NULL);
  return true;
}

uintptr_t undead_premises_native_witnesses(void) { return native_witnesses; }

const undead_premises *undead_premises_result(void) { return checked ? &result : NULL; }

void undead_premises_refute(const char *what) { undead_premise(&result, UNDEAD_PREMISE_LEAKS, false, what); }

void undead_premises_include(const undead_premises *more) {
  result.checked += more->checked;
  result.absent += more->absent;
  for (int use = 0; use < UNDEAD_PREMISE_USES; use++) {
    result.failed[use] += more->failed[use];
    if (!result.first[use]) result.first[use] = more->first[use];
  }
}

bool undead_premises_describe(undead_premise_use use, char *text, size_t size) {
  static const char *const rests[UNDEAD_PREMISE_USES] = {"no answer about leaks", "names of types and fields may be wrong",
                                                         "uses of dead objects may be missed"};
  if (!result.failed[use]) return false;
  uint32_t version = undead_runtime_version(), others = result.failed[use] - 1;
  char more[32] = "";
  if (others) snprintf(more, sizeof more, " (and %u more)", others);
  snprintf(text, size, "%s: %s%s: not as expected in the Swift runtime %x.%x.%x, glibc %s", rests[use], result.first[use], more,
           version >> 16, version >> 8 & 0xFF, version & 0xFF, gnu_get_libc_version());
  return true;
}

bool undead_premises_hold(char *text, size_t size) {
  if (!checked && !check()) {
    snprintf(text, size, "the memory map of the process (/proc/self/maps) cannot be read");
    return false;
  }
  checked = true;
  return !undead_premises_describe(UNDEAD_PREMISE_LEAKS, text, size);
}
