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

#pragma GCC visibility pop
