#include "zombies/classes/type_lists.h"
#include "platform/memory/own_data.h"
#include <stddef.h>
#include <string.h>

enum { LIST_BYTES = 4096 };

// Each list: names, each ended by a zero byte, and an empty one at the end.
static char lists[UNDEAD_LIST_COUNT][LIST_BYTES];

static size_t used(undead_type_list list) {
  size_t at = 0;
  while (lists[list][at]) at += strlen(&lists[list][at]) + 1;
  return at;
}

bool undead_type_list_is_empty(undead_type_list list) { return lists[list][0] == 0; }

bool undead_type_list_add(undead_type_list list, const char *names) {
  size_t at = used(list);
  for (const char *rest = names ? names : ""; *rest;) {
    rest += strspn(rest, ", \t\n");
    size_t length = strcspn(rest, ",\n");
    const char *next = rest + length;
    while (length && (rest[length - 1] == ' ' || rest[length - 1] == '\t')) length--;
    if (length) {
      if (at + length + 2 > LIST_BYTES) return false;
      // Readers see the name when its first byte is there.
      memcpy(&lists[list][at + 1], rest + 1, length - 1);
      lists[list][at + length] = lists[list][at + length + 1] = 0;
      __atomic_store_n(&lists[list][at], rest[0], __ATOMIC_RELEASE);
      at += length + 1;
    }
    rest = next;
  }
  return true;
}

bool undead_type_list_set(undead_type_list list, const char *names) {
  memset(lists[list], 0, LIST_BYTES);
  return undead_type_list_add(list, names);
}

static bool is_name(const char *pattern, const char *name, size_t length) {
  size_t wanted = strlen(pattern);
  if (wanted && pattern[wanted - 1] == '*') return length >= wanted - 1 && !strncmp(pattern, name, wanted - 1);
  return length == wanted && !strncmp(pattern, name, length);
}

bool undead_type_list_has(undead_type_list list, const char *name) {
  // "(App.Box in $10a2)" and the like are compared as they are.
  size_t length = strcspn(name, "<");
  const char *dot = memchr(name, '.', length);
  for (size_t at = 0; lists[list][at]; at += strlen(&lists[list][at]) + 1) {
    const char *pattern = &lists[list][at];
    if (is_name(pattern, name, length)) return true;
    // Without the module, also for nested types: "Inner", "Outer.Inner".
    for (const char *part = dot; part; part = memchr(part + 1, '.', length - (size_t)(part + 1 - name)))
      if (is_name(pattern, part + 1, length - (size_t)(part + 1 - name))) return true;
  }
  return false;
}
