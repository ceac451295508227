// The loaded images where the C library has no function that finds them without a lock (glibc before 2.35).
#pragma once
#include "unwind/rules/images.h"

#pragma GCC visibility push(hidden)

// Calls `visit` with each image on the loader's list until it returns true; false if it never did.
typedef bool (*undead_link_map_visitor)(void *context, const undead_image *image);
bool undead_link_map_each(undead_link_map_visitor visit, void *context);

// The image of that entry of the list; false if there is none any more.
bool undead_link_map_read(const void *link_map, undead_image *image);

#pragma GCC visibility pop
