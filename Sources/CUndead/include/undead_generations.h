// Generations of allocations: what was born between two marks.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Begins a new generation and returns its number, from 1 on. What is allocated from now on belongs to it, in heap files
// and what is made of them. `name` identifies the mark in reports ("after request"); it is kept in UTF-8, at most
// 111 bytes of it. 0 while nothing is recorded, after 4095 marks, or if the backtraces of earlier generations take up
// half of the memory that is reserved for them. Async-signal-safe.
uint32_t undead_mark_generation(const char *name);

#ifdef __cplusplus
}
#endif
