// The program headers of an ELF file or of an image in memory. No state and no system call: any thread, also in malloc and in
// signal handlers. Of the images on the loader's list, dl_iterate_phdr shows the headers.
#pragma once
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  const Elf64_Phdr *headers;
  size_t count;
  uintptr_t low, high;   // of all that is loaded, as the file has it
} undead_segments;

// Whether that many bytes at `address` may be read. In place of one, NULL stands for all that the headers name.
typedef bool (*undead_reach)(const void *context, uintptr_t address, size_t bytes);

// The program headers of what starts at `start`; false if that is no program or library, loads nothing, or is out of reach.
bool undead_segments_read(undead_segments *segments, const void *start, undead_reach reach, const void *context);

// Those that somebody else has checked; low >= high: nothing is loaded.
undead_segments undead_segments_of(const Elf64_Phdr *headers, size_t count);

// The number to add to addresses of an image that is mapped from `start` on.
uintptr_t undead_segments_bias(const undead_segments *segments, const void *start);

// Room for a build id, which has 20 bytes as a rule; of a longer one the start counts.
enum { UNDEAD_BUILD_ID_TEXT = 44 };

typedef enum { UNDEAD_NOTES_OF_IMAGE, UNDEAD_NOTES_OF_FILE } undead_notes;

// The build id in hex, "" if there is none. `base` is the bias of an image, or where a file lies.
void undead_segments_build_id(
  const undead_segments *segments, undead_notes notes, uintptr_t base, undead_reach reach, const void *context,
  char text[UNDEAD_BUILD_ID_TEXT]);
