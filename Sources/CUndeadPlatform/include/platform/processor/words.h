// Reads of memory that is known to be readable.
#pragma once
#include <stdint.h>

static inline uintptr_t word_at(uintptr_t address) { return *(const uintptr_t *)address; }
static inline uint32_t u32_at(uintptr_t address) { return *(const uint32_t *)address; }
