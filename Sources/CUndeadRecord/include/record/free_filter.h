// The keeper looks first: it keeps blocks that the program frees, or gave it memory that is not malloc's.
// The watcher looks before the keeper: it only notes that a block is freed.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Called by free(), not in a hook, with the registers of its caller. True if the block is not to be freed, or has been.
typedef bool (*undead_free_filter_function)(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp);

// What the hooks ask: the watcher, else the keeper. NULL: nobody does.
extern undead_free_filter_function volatile undead_free_filter;

extern undead_free_filter_function volatile undead_free_keeper;
// NULL: nobody keeps anything. Any thread.
void undead_free_filter_keep(undead_free_filter_function keeper);
// The watcher calls the keeper itself. NULL: nobody watches. Any thread.
void undead_free_filter_watch(undead_free_filter_function watcher);

// Called in a hook where glibc has no memory for so many bytes: frees what the keeper keeps. False if that is not as much.
typedef bool (*undead_free_kept_function)(size_t size);
extern undead_free_kept_function volatile undead_free_kept;   // NULL: nothing is kept

#pragma GCC visibility pop
