#include "platform/memory/sort.h"

void undead_sort_words(uintptr_t *words, uint32_t count) { undead_sort(words, count, sizeof *words); }
