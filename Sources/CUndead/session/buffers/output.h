// Where a snapshot goes: a file, through a buffer, or memory. The first error stays and makes all that follows void.
#pragma once
#include "session/buffers/vector.h"

#pragma GCC visibility push(hidden)

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

#pragma GCC visibility pop
