#include "scan/numbers.h"
#include "platform/maps.h"
#include <string.h>

enum { MOST_VARIABLES = 1 << 16, LONGEST_NAME = 4096 };

static bool has_suffix(const char *name, size_t length, const char *suffix, size_t *rest) {
  size_t bytes = strlen(suffix);
  if (length < bytes || memcmp(name + length - bytes, suffix, bytes)) return false;
  *rest = length - bytes;
  return true;
}

// Whether the digits before `end` are, or end with, the number `value`.
static bool ends_with_number(const char *name, size_t end, size_t value) {
  for (; value; value /= 10, end--)
    if (end == 0 || name[end - 1] != (char)('0' + value % 10)) return false;
  return true;
}

// Whether the first `end` characters may end with an identifier: its length, then its text.
static bool may_end_identifier(const char *name, size_t end) {
  for (size_t length = 1; length < end; length++)
    if (ends_with_number(name, end - length, length)) return true;
  return false;
}

// The names of variables end with their type, "vp", and "Z" for static ones (docs/ABI/Mangling.rst of the Swift repository). What
// looks like one of these types may also be the end of a longer name: an enum `CSS` of the program is "3CSSO".
static bool is_number(const char *name, size_t size) {
  static const char *const types[] = {"Si", "Su", "Sd", "SO", "s5Int64V", "s6UInt64V"};
  size_t length = strlen(name), rest;
  if (strncmp(name, "$s", 2) || length > LONGEST_NAME) return false;
  if (name[length - 1] == 'Z') length--;
  if (!has_suffix(name, length, "vp", &length)) return false;
  bool optional = has_suffix(name, length, "Sg", &length);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (!has_suffix(name, length, types[i], &rest)) continue;
    // Only an ObjectIdentifier has a value to spare for nil.
    bool in_word = !optional || !strcmp(types[i], "SO");
    return size == (in_word ? 8 : 9) && !may_end_identifier(name, rest + 1);
  }
  return false;
}

static bool add_variable(void *context, const char *name, uintptr_t address, size_t size) {
  undead_intervals *numbers = context;
  if ((size == 8 || size == 9) && address % 8 == 0 && is_number(name, size))
    undead_intervals_add(numbers, address, address + 8);
  return numbers->count < numbers->capacity;
}

void undead_numbers_open(undead_intervals *numbers) {
  if (!undead_intervals_open(numbers, MOST_VARIABLES)) return;
  for (size_t i = 0; i < undead_module_count(); i++) {
    const undead_module *module = undead_module_at(i);
    if (!module->toolchain && undead_symbol_address(module, "__swift_reflection_version", NULL))
      undead_symbols_each_variable(module, add_variable, numbers);
  }
  undead_intervals_sort(numbers);
}

void undead_numbers_close(undead_intervals *numbers) { undead_intervals_close(numbers); }

static void split(undead_roots *roots, uint32_t index, const undead_intervals *numbers) {
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
  // Each variable makes two roots more at most. Without room for them, numbers keep alive what they name.
  if (roots->capacity - count < 2 * numbers->sorted) return;
  for (uint32_t i = 0; numbers->sorted && i < count; i++) {
    const undead_root *root = &roots->roots[i];
    if (root->kind == UNDEAD_ROOT_GLOBAL && !root->shift && !root->weak) split(roots, i, numbers);
  }
}
