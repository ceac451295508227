#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "zombies/kept/spare_mappings.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include <sys/mman.h>

enum { PAIRS = 128 };   // of pages that differ, so that each is a mapping

static char *pages;
static bool given;

void undead_spare_mappings_prepare(void) {
  if (pages || given) return;
  char *memory = undead_map_unused(2 * PAIRS * UNDEAD_PAGE);
  for (int i = 0; memory && i < PAIRS; i++) mprotect(memory + 2 * i * UNDEAD_PAGE, UNDEAD_PAGE, PROT_READ);
  pages = memory;
}

bool undead_spare_mappings_are_given(void) { return __atomic_load_n(&given, __ATOMIC_RELAXED); }

bool undead_spare_mappings_give(void) {
  if (__atomic_exchange_n(&given, true, __ATOMIC_RELAXED)) return false;
  if (pages) undead_unmap(pages, 2 * PAIRS * UNDEAD_PAGE);
  return true;
}
#endif
