// Where the unwind tables of the loaded images are, found without a lock.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  uintptr_t low, high;           // mapped range of the image
  const uint8_t *eh_frame_hdr;   // NULL if it has none
  const void *link_map;
} undead_image;

// The image that contains `pc`; false if none does. Remembers it for undead_images_changed.
bool undead_image_find(uintptr_t pc, undead_image *image);

// Code that belongs to no image is at `pc`: undead_images_changed also says when one has come there.
void undead_image_note_foreign(uintptr_t pc);

// True for code of the dynamic loader: images come and go only while it allocates.
bool undead_is_loader(uintptr_t pc);

// True if an image that undead_image_find returned since the last call of undead_images_forget is gone, or
// one is where there was none.
bool undead_images_changed(void);

// Calls `gone` for the range of each such image, and forgets them all.
void undead_images_forget(void (*gone)(uintptr_t low, uintptr_t high));

// The loaded images where the C library has no function that finds them without a lock (glibc before 2.35).

// Calls `visit` with each image on the loader's list until it returns true; false if it never did.
typedef bool (*undead_link_map_visitor)(void *context, const undead_image *image);
bool undead_link_map_each(undead_link_map_visitor visit, void *context);

// The image of that entry of the list; false if there is none any more.
bool undead_link_map_read(const void *link_map, undead_image *image);

// Unwind tables that were read stay in memory: for a small service megabytes, though each place is looked up once. They can
// be let go, and come back from the file.

// The table of `image` was read at these places.
void undead_table_pages_note(const undead_image *image, const void *place, const void *other);

// Lets all go that was read since the last call; nothing where a page may differ from its file. Not by two threads at once.
void undead_table_pages_let_go(void);

#pragma GCC visibility pop
