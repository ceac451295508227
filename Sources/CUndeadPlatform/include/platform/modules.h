// What modules.c and symbols.c share.
#pragma once
#include <stddef.h>
#include <stdint.h>

// The build id among the ELF notes at `notes` (`size` bytes), or NULL.
const uint8_t *undead_build_id_note(const char *notes, size_t size, size_t *length);

// Unmaps the files and indexes of all images: they are listed again.
void undead_symbols_forget(void);
