// The pages of memory: the one size that the instrument counts with.
#pragma once
#include <stdint.h>

#define UNDEAD_PAGE 4096ul

// Where the page of an address begins, and where the first page at or after it does.
static inline uintptr_t undead_page_of(uintptr_t address) { return address & ~(UNDEAD_PAGE - 1); }
static inline uintptr_t undead_page_from(uintptr_t address) { return undead_page_of(address + UNDEAD_PAGE - 1); }
