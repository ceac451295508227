// Global variables whose symbols say that they are numbers. Their words are weak evidence, as those of such fields are. The list
// is made anew only when images come or go.
#include "scan/roots/roots.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "runtime/variables.h"
#include "world/images.h"
#include <string.h>

enum { MOST_NUMBERS = 1 << 16 };

static bool add_variable(void *context, const char *name, uintptr_t address, size_t size) {
  undead_intervals *numbers = context;
  uint32_t words = address % 8 ? 0 : undead_variable_numbers(name, size);
  for (; words; words &= words - 1) {
    uintptr_t at = address + 8 * (uintptr_t)__builtin_ctz(words);
    undead_intervals_add(numbers, at, at + 8);
  }
  return numbers->count + UNDEAD_VARIABLE_WORDS <= numbers->capacity;
}

static uint64_t hash_of(uint64_t hash, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * 1099511628211ull;
  return hash;
}

// Changes when libraries of the program come and go.
static uint64_t hash_of_modules(void) {
  uint64_t hash = 14695981039346656037ull;
  for (size_t i = 0; i < undead_module_count(); i++) {
    const undead_module *module = undead_module_at(i);
    if (module->toolchain) continue;
    hash = hash_of(hash, &module->low, sizeof module->low);
    hash = hash_of(hash, module->path, strlen(module->path));
    hash = hash_of(hash, module->build_id, strlen(module->build_id));
  }
  return hash;
}

void undead_numbers_refresh(undead_intervals *numbers) {
  static undead_intervals known;
  static uint64_t known_modules;
  uint64_t modules = hash_of_modules();
  *numbers = (undead_intervals){0};
  if (!known.list && !undead_intervals_open(&known, MOST_NUMBERS)) return;
  if (modules != known_modules) {
    known.count = known.sorted = 0;
    known_modules = 0;
  }
  if (!known_modules && undead_images_map()) {
    for (size_t i = 0; i < undead_module_count(); i++) {
      const undead_module *module = undead_module_at(i);
      if (!module->toolchain && undead_symbol_address(module, "__swift_reflection_version", NULL))
        undead_symbols_each_variable(module, add_variable, &known);
    }
    undead_intervals_sort(&known);
    known_modules = modules;
  }
  *numbers = known;
}

static void split_by_numbers(undead_roots *roots, uint32_t index, const undead_intervals *numbers) {
  const undead_root whole = roots->roots[index];
  for (uintptr_t at = whole.low, next; at < whole.high; at = next) {
    uintptr_t end = undead_intervals_skip(numbers, at, &next);
    if (end) next = end;
    if (next > whole.high) next = whole.high;
    undead_root part = whole;
    part.low = at;
    part.high = next;
    part.weak = end != 0;
    if (at == whole.low) roots->roots[index] = part;
    else roots->roots[roots->count++] = part;
  }
}

void undead_numbers_mark(undead_roots *roots, const undead_intervals *numbers) {
  uint32_t count = roots->count;
  // Each of them makes two roots more at most. Without room for them, numbers keep alive what they name.
  if (roots->capacity - count < 2 * numbers->sorted) return;
  for (uint32_t i = 0; numbers->sorted && i < count; i++) {
    const undead_root *root = &roots->roots[i];
    if (root->kind == UNDEAD_ROOT_GLOBAL && !root->shift && !root->weak) split_by_numbers(roots, i, numbers);
  }
}
