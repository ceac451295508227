// Functions of other allocators beyond the C library's: C++ operators, and what they offer under names of their own.
#pragma once
#include "record/way/hook_frame.h"
#include <link.h>

#pragma GCC visibility push(hidden)

// Sends calls of all images to the recorder's functions. `image`: of the allocator.
void undead_other_functions_bind(const struct dl_phdr_info *image);

// A name that was found in use and of which nothing is known here, so that blocks may come and go unseen; or NULL.
const char *undead_other_functions_unknown(void);
// A name that takes blocks away without a word, or NULL.
const char *undead_other_functions_unsound(void);

// What a new block goes through, and one that is about to be freed (other_allocator.c).
void *undead_other_born(void *block, const hook_frame *frame);
// One whose first `bytes` bytes stay.
void undead_other_kept(void *block, size_t bytes, const hook_frame *frame);
void undead_other_dies(void *block);
// Sizes as they are asked for. Blocks of less than 16 bytes may not begin at a multiple of 16, and the registry shows two
// blocks apart only if their beginnings are 32 bytes apart. glibc's smallest block takes as much.
static inline size_t undead_other_size(size_t size) { return size < 32 ? 32 : size; }

#pragma GCC visibility pop
