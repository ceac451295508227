#pragma once

#pragma GCC visibility push(hidden)

// Makes libunwind forget what it knows of images that may be gone.
void undead_libunwind_images_unloaded(void);

// From now on this process captures without libunwind.
void undead_libunwind_forbid(void);

#pragma GCC visibility pop
