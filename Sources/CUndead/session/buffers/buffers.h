// Texts, bytes and files that the session fills.
#pragma once
#include "platform/memory/index_map.h"
#include "platform/system/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Texts in fixed buffers: what the session does with them beside making them (platform/system/text.h).

// Copies `string` into `buffer`, cut off to fit, always terminated.
void undead_text_copy(char *buffer, size_t size, const char *string);

// Parses a decimal number that fills the whole string; false if it is none or does not fit.
bool undead_text_parse(const char *string, int64_t *number);

// A growing array of bytes in mapped memory.

typedef struct {
  uint8_t *bytes;
  size_t size, capacity;
} undead_vector;

// Makes room for `size` more bytes; false if there is no memory.
bool undead_vector_reserve(undead_vector *vector, size_t size);
bool undead_vector_append(undead_vector *vector, const void *bytes, size_t size);
void undead_vector_free(undead_vector *vector);

// Where a snapshot goes: a file, through a buffer, or memory. The first error stays and makes all that follows void.

typedef struct {
  int file;              // -1: to memory
  undead_vector bytes;   // the buffer of the file, or everything
  uint64_t flushed;      // bytes that are in the file already
  int error;             // errno of the first failure, 0: none
} undead_output;

uint64_t undead_output_offset(const undead_output *output);
void undead_output_write(undead_output *output, const void *bytes, size_t size);
// Fills up with zeros to a multiple of 8.
void undead_output_align(undead_output *output);
// Overwrites bytes at the start, after everything was written and flushed.
void undead_output_patch(undead_output *output, const void *bytes, size_t size, uint64_t offset);
void undead_output_flush(undead_output *output);
// Leaves out bytes that are in the file already.
void undead_output_skip(undead_output *output, uint64_t bytes);
// The checksum of everything from `offset` on, which must have been flushed (Documentation/snapshot-format.md).
uint64_t undead_output_checksum(undead_output *output, uint64_t offset);

// The STRINGS section while it is built: every text once.

typedef struct {
  undead_vector bytes;
  undead_index_map offsets;
  bool failed;             // no memory, or more than 4 GiB of texts
} undead_string_table;

// Offset of `string` in the section, 0 for "" and NULL.
uint32_t undead_string_add(undead_string_table *table, const char *string);
void undead_strings_free(undead_string_table *table);

#pragma GCC visibility pop
