// What the files about the memory map share. The text of /proc/PID/maps and smaps is read without malloc.
#pragma once
#include "platform/maps/maps.h"
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// False if the line, up to `end`, is none of a mapping.
bool undead_maps_parse(const char *text, const char *end, undead_maps_line *line);
// Behind the spaces that follow the word at `text`.
const char *undead_maps_next_field(const char *text, const char *end);

// Calls `visit` for each line of /proc/self/maps, read into `buffer`, until it returns false; false if it cannot be read.
typedef bool (*undead_maps_line_visitor)(void *context, const char *text, const char *end);
bool undead_maps_each_line(char *buffer, size_t size, undead_maps_line_visitor visit, void *context);

// The mappings of the last refresh, to be changed.
undead_mapping *undead_mapping_slot(size_t index);

// The known pages that cannot be read: holes.c finds them, and maps.c cuts them out of the mappings.

typedef struct {
  uintptr_t low, high;
} undead_hole;
extern undead_hole *undead_holes;   // ascending
extern uint32_t undead_hole_count;

// False without room, or if it overlaps another one.
bool undead_hole_add(uintptr_t low, uintptr_t high);

#pragma GCC visibility pop
