// Whether a suspended function will come to the same `await` again. The compiler splits an asynchronous function at each one:
// "BaseTQ1_" and "BaseTY2_" are parts of "Base". A part names the next one by an address relative to the instruction: it is the
// argument of swift_task_switch, or stored in the frame that is called. So the search goes over four bytes at a time, without
// decoding instructions: a number that happens to lead to the first byte of a part of the same function is no accident.
#include "platform/maps/maps.h"
#include "platform/memory/index_map.h"
#include "platform/memory/own_data.h"
#include "runtime/layout.h"
#include "runtime/metadata/memory_reader.h"
#include "platform/system/text.h"
#include <stdlib.h>

enum { MOST_PARTS = 64, MOST_BYTES = 1 << 14, CACHED = 256, NAME_BYTES = 4096 };

typedef struct {
  char base[NAME_BYTES];
  size_t length;
  uintptr_t first;         // the part that the search begins with
  uintptr_t parts[MOST_PARTS];
  uint32_t from[MOST_PARTS];   // the part that leads to each
  uint32_t count;
} part_search;

// Length of the name without the mark of a part, 0 if it has none.
static size_t base_length(const char *name) {
  size_t length = strlen(name), at = length;
  if (length < 5 || name[--at] != '_') return 0;
  size_t digits = at;
  while (at && name[at - 1] >= '0' && name[at - 1] <= '9') at--;
  bool marked = at < digits && at > 2 && name[at - 2] == 'T' && (name[at - 1] == 'Q' || name[at - 1] == 'Y');
  return marked ? at - 2 : 0;
}

// Functions of the standard library and of the concurrency runtime repeat what they do for reasons of their own.
static bool is_of_runtime(const char *name) { return undead_starts_with(name, "$ss") || undead_starts_with(name, "$sS"); }

static bool is_part(const part_search *search, uintptr_t address) {
  uintptr_t start;
  const char *name = undead_symbol_name(address, &start);
  return start == address && base_length(name) == search->length && memcmp(name, search->base, search->length) == 0;
}

static void add_part(part_search *search, uintptr_t part, uint32_t from) {
  for (uint32_t i = 0; i < search->count; i++)
    if (search->parts[i] == part) return;
  if (search->count == MOST_PARTS) return;
  search->from[search->count] = from;
  search->parts[search->count++] = part;
}

// Calls what `uses` says of each address that a number in the part leads to, until it is true.
static bool each_target(uintptr_t part, bool (*uses)(void *context, uintptr_t target), void *context) {
  static uint8_t code[MOST_BYTES];
  enum { NEAR = 1 << 28, CHUNK = 256 };
  size_t size = 0;
  while (size < MOST_BYTES && undead_copy_memory(part + size, code + size, CHUNK)) size += CHUNK;
  uintptr_t start;
  for (size_t at = 0; at + 4 <= size; at++) {
    // Symbols follow each other: the part ends where another one begins.
    if (at && at % 16 == 0 && (undead_symbol_name(part + at, &start), start != part)) break;
    int32_t distance;
    memcpy(&distance, code + at, sizeof distance);
    if (distance > NEAR || distance < -NEAR || (distance >= 0 && distance < 8)) continue;
    if (uses(context, part + at + 4 + (uintptr_t)(intptr_t)distance)) return true;
  }
  return false;
}

typedef struct {
  part_search *search;
  uint32_t from;
} part_step;

static bool leads_back(void *context, uintptr_t target) {
  part_step *step = context;
  if (target % 16 || !is_part(step->search, target)) return false;
  if (target == step->search->first) return true;
  add_part(step->search, target, step->from);
  return false;
}

typedef struct {
  const char *name;
  size_t length;
} called_function;

static bool is_called(const called_function *called, uintptr_t function) {
  uintptr_t start;
  const char *name = undead_symbol_name(function, &start);
  return start == function && strlen(name) == called->length && memcmp(name, called->name, called->length) == 0;
}

// An asynchronous function is called by its record, which begins with its distance: directly, or by the loader's table.
static bool calls(void *context, uintptr_t target) {
  uintptr_t record = target;
  int32_t distance;
  for (int i = 0; i < 2; i++) {
    if (undead_copy_memory(record, &distance, sizeof distance) && distance
        && is_called(context, record + (uintptr_t)(intptr_t)distance)) return true;
    if (target % 8 || !undead_copy_memory(target, &record, sizeof record)) return false;
  }
  return false;
}

static bool returns_to(part_search *search, uintptr_t first) {
  search->first = search->parts[0] = first;
  search->count = 1;
  for (uint32_t i = 0; i < search->count; i++)
    if (each_target(search->parts[i], leads_back, &(part_step){search, i})) return true;
  return false;
}

// The part behind the next `await`, if that is for the same function as the present one; 0 if there is none.
static uintptr_t next_await(const part_search *search, uintptr_t awaited) {
  uintptr_t start;
  called_function called = {.name = undead_symbol_name(awaited, &start)};
  called.length = base_length(called.name);
  for (uint32_t i = 1; i < search->count && called.length; i++) {
    if (undead_symbol_name(search->parts[i], &start)[search->length + 1] != 'Q') continue;
    return each_target(search->parts[search->from[i]], calls, &called) ? search->parts[i] : 0;
  }
  return 0;
}

static bool comes_back(uintptr_t function, uintptr_t awaited) {
  static part_search search;
  uintptr_t start;
  const char *name = undead_symbol_name(function, &start);
  search.length = base_length(name);
  if (start != function || !search.length || search.length >= NAME_BYTES || is_of_runtime(name)) return false;
  memcpy(search.base, name, search.length);
  if (returns_to(&search, function)) return true;
  // The optimiser writes the first round of a loop apart: then the next `await` is the same one again, and repeats.
  uintptr_t next = awaited ? next_await(&search, awaited) : 0;
  return next && returns_to(&search, next);
}

bool undead_frames_loop(const uintptr_t *frames, uint32_t count) {
  static struct { uintptr_t function; uint32_t generation; bool loops; } cache[CACHED];
  for (uint32_t i = 0; i < count; i++) {
    uintptr_t function = frames[i] - 1;
    const undead_module *module = undead_module_of(function);
    if (!module || module->toolchain) continue;
    uint32_t slot = (uint32_t)(undead_hash(&function, sizeof function, 0) % CACHED);
    if (cache[slot].function != function || cache[slot].generation != undead_modules_generation) {
      cache[slot].loops = comes_back(function, i ? frames[i - 1] - 1 : 0);
      cache[slot].function = function;
      cache[slot].generation = undead_modules_generation;
    }
    if (cache[slot].loops) return true;
  }
  return false;
}
