#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// Whether a suspended function will come to the same `await` again. The compiler splits an asynchronous function at each one:
// "BaseTQ1_" and "BaseTY2_" are parts of "Base". A part names the next one by an address relative to the instruction: it is the
// argument of swift_task_switch, or stored in the frame that is called. So the search goes over four bytes at a time, without
// decoding instructions: a number that happens to lead to the first byte of a part of the same function is no accident.
#include "platform/maps/maps.h"
#include "platform/memory/index_map.h"
#include "platform/memory/own_data.h"
#include "runtime/layout.h"
#include "runtime/metadata/memory_reader.h"
#include <stdlib.h>

enum { MOST_PARTS = 64, MOST_BYTES = 1 << 14, CACHED = 256, NAME_BYTES = 4096 };

typedef struct {
  char base[NAME_BYTES];
  size_t length;
  uintptr_t first;         // the part that the search begins with
  uintptr_t parts[MOST_PARTS];
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
static bool is_of_runtime(const char *name) { return strncmp(name, "$ss", 3) == 0 || strncmp(name, "$sS", 3) == 0; }

static bool is_part(const part_search *search, uintptr_t address) {
  uintptr_t start;
  const char *name = undead_symbol_name(address, &start);
  return start == address && base_length(name) == search->length && memcmp(name, search->base, search->length) == 0;
}

static void add_part(part_search *search, uintptr_t part) {
  for (uint32_t i = 0; i < search->count; i++)
    if (search->parts[i] == part) return;
  if (search->count < MOST_PARTS) search->parts[search->count++] = part;
}

// True if the part leads to the first one.
static bool follow(part_search *search, uintptr_t part) {
  static uint8_t code[MOST_BYTES];
  enum { NEAR = 1 << 20, CHUNK = 256 };
  size_t size = 0;
  while (size < MOST_BYTES && undead_copy_memory(part + size, code + size, CHUNK)) size += CHUNK;
  uintptr_t start;
  for (size_t at = 0; at + 4 <= size; at++) {
    // Symbols follow each other: the part ends where another one begins.
    if (at && at % 16 == 0 && (undead_symbol_name(part + at, &start), start != part)) break;
    int32_t distance;
    memcpy(&distance, code + at, sizeof distance);
    if (distance > NEAR || distance < -NEAR || (distance >= 0 && distance < 8)) continue;
    uintptr_t target = part + at + 4 + (uintptr_t)(intptr_t)distance;
    if (target % 16 || !is_part(search, target)) continue;
    if (target == search->first) return true;
    add_part(search, target);
  }
  return false;
}

static bool returns_to(part_search *search, uintptr_t first) {
  search->first = search->parts[0] = first;
  search->count = 1;
  for (uint32_t i = 0; i < search->count; i++)
    if (follow(search, search->parts[i])) return true;
  return false;
}

// The part behind the next `await` that was found; 0 if there is none.
static uintptr_t next_await(const part_search *search) {
  for (uint32_t i = 1; i < search->count; i++) {
    uintptr_t start;
    if (undead_symbol_name(search->parts[i], &start)[search->length + 1] == 'Q') return search->parts[i];
  }
  return 0;
}

static bool comes_back(uintptr_t function) {
  static part_search search;
  uintptr_t start;
  const char *name = undead_symbol_name(function, &start);
  search.length = base_length(name);
  if (start != function || !search.length || search.length >= NAME_BYTES || is_of_runtime(name)) return false;
  memcpy(search.base, name, search.length);
  if (returns_to(&search, function)) return true;
  // The optimiser writes the first round of a loop apart: then the next `await` is the one that repeats.
  uintptr_t next = next_await(&search);
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
      cache[slot].loops = comes_back(function);
      cache[slot].function = function;
      cache[slot].generation = undead_modules_generation;
    }
    if (cache[slot].loops) return true;
  }
  return false;
}
#endif
