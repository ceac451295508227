#include "scan/graph/stream.h"
#include "platform/memory/memory.h"
#include "platform/processor/processor.h"
#include <errno.h>

bool undead_stream_open(undead_stream *stream, int file) {
  *stream = (undead_stream){.file = file, .buffer = undead_map(UNDEAD_STREAM_BUFFER), .capacity = UNDEAD_STREAM_BUFFER};
  return stream->buffer != NULL;
}

void undead_stream_close(undead_stream *stream) {
  if (stream->buffer) undead_unmap(stream->buffer, stream->capacity);
  stream->buffer = NULL;
}

static void write_out(undead_stream *stream, const uint8_t *bytes, uint32_t count) {
  for (uint32_t done = 0; done < count && !stream->error;) {
    long written = undead_raw3(SYS_write, stream->file, (long)(bytes + done), count - done);
    if (written > 0) done += (uint32_t)written;
    else if (written != -EINTR) stream->error = written < 0 ? (int)-written : EIO;
  }
  stream->written += count;
}

static void enlarge(undead_stream *stream) {
  uint8_t *larger = NULL;
  if (stream->capacity <= UINT32_MAX / 2) larger = undead_map_larger(stream->buffer, stream->capacity, stream->capacity * 2ull);
  if (larger) {
    stream->buffer = larger;
    stream->capacity *= 2;
  } else {
    stream->error = ENOMEM;
    stream->used = 0;
  }
}

void undead_stream_flush(undead_stream *stream) {
  if (stream->file < 0) {
    enlarge(stream);
    return;
  }
  write_out(stream, stream->buffer, stream->used);
  stream->used = 0;
}

void undead_stream_append(undead_stream *stream, const undead_stream *other) {
  if (other->error && !stream->error) stream->error = other->error;
  undead_stream_flush(stream);
  write_out(stream, other->buffer, other->used);
}

uint64_t undead_stream_size(const undead_stream *stream) { return stream->written + stream->used; }

void undead_stream_align(undead_stream *stream) {
  undead_stream_make_room(stream);
  while (undead_stream_size(stream) % 8) stream->buffer[stream->used++] = 0;
}
