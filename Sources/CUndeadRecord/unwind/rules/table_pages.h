// Unwind tables that were read stay in memory: for a small service megabytes, though each place is looked up once. They can
// be let go, and come back from the file.
#pragma once
#include "unwind/rules/images.h"

#pragma GCC visibility push(hidden)

// The table of `image` was read at these places.
void undead_table_pages_note(const undead_image *image, const void *place, const void *other);

// Lets all go that was read since the last call; nothing where a page may differ from its file. Not by two threads at once.
void undead_table_pages_let_go(void);

#pragma GCC visibility pop
