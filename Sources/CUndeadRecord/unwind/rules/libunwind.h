#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Makes libunwind forget what it knows of images that may be gone.
void undead_libunwind_images_unloaded(void);

// True if it can be asked.
bool undead_libunwind_is_ready(void);

// From now on this process captures without libunwind.
void undead_libunwind_forbid(void);

#pragma GCC visibility pop
