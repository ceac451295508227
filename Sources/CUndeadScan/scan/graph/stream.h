// Numbers of variable length (LEB128) into an open file, through a buffer, or into memory. The first error stays and makes the rest
// void.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define UNDEAD_STREAM_BUFFER (1u << 18)

typedef struct {
  int file;            // -1: none, the buffer grows
  int error;           // errno of the first failure, 0: none
  uint8_t *buffer;
  uint32_t used, capacity;
  uint64_t written;    // bytes that are in the file already
} undead_stream;

// False without memory.
bool undead_stream_open(undead_stream *stream, int file);
void undead_stream_close(undead_stream *stream);
// What another one has in its buffer.
void undead_stream_append(undead_stream *stream, const undead_stream *other);
void undead_stream_flush(undead_stream *stream);
uint64_t undead_stream_size(const undead_stream *stream);
// Fills up with zeros to a multiple of 8.
void undead_stream_align(undead_stream *stream);

#define UNDEAD_VARINT_BYTES 10u

static inline void undead_stream_make_room(undead_stream *stream) {
  if (stream->used > stream->capacity - UNDEAD_VARINT_BYTES) undead_stream_flush(stream);
}

static inline void undead_stream_varint(undead_stream *stream, uint64_t number) {
  undead_stream_make_room(stream);
  for (; number >= 0x80; number >>= 7) stream->buffer[stream->used++] = (uint8_t)(number | 0x80);
  stream->buffer[stream->used++] = (uint8_t)number;
}

// A number that may be negative: the sign is the lowest bit.
static inline void undead_stream_zigzag(undead_stream *stream, int64_t number) {
  undead_stream_varint(stream, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static inline void undead_stream_word(undead_stream *stream, uint64_t word) {
  undead_stream_make_room(stream);
  __builtin_memcpy(stream->buffer + stream->used, &word, sizeof word);
  stream->used += sizeof word;
}
