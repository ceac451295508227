#include "platform/memory/own_data.h"

// The linker's, of the sections whose names are identifiers.
extern char __start_undead_bss[] __attribute__((visibility("hidden"), weak));
extern char __stop_undead_bss[] __attribute__((visibility("hidden"), weak));
extern char __start_undead_data[] __attribute__((visibility("hidden"), weak));
extern char __stop_undead_data[] __attribute__((visibility("hidden"), weak));

bool undead_own_variables(size_t index, uintptr_t *low, uintptr_t *high) {
  if (index > 1) return false;
  *low = (uintptr_t)(index ? __start_undead_data : __start_undead_bss);
  *high = (uintptr_t)(index ? __stop_undead_data : __stop_undead_bss);
  return true;
}
