// What the files about the memory map share. The text of /proc/PID/maps and smaps is read without malloc.
#pragma once
#include "platform/maps/maps.h"

// False if the line, up to `end`, is none of a mapping.
bool undead_maps_parse(const char *text, const char *end, undead_maps_line *line);
// Behind the spaces that follow the word at `text`.
const char *undead_maps_next_field(const char *text, const char *end);

// Calls `visit` for each line of /proc/self/maps, read into `buffer`, until it returns false; false if it cannot be read.
typedef bool (*undead_maps_line_visitor)(void *context, const char *text, const char *end);
bool undead_maps_each_line(char *buffer, size_t size, undead_maps_line_visitor visit, void *context);

// The mappings of the last refresh, to be changed.
undead_mapping *undead_mapping_slot(size_t index);
