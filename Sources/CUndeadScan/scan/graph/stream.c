#include "scan/graph/stream.h"
#include "platform/memory/memory.h"
#include "platform/processor/processor.h"
#include <errno.h>

bool undead_stream_open(undead_stream *stream, int file) {
  *stream = (undead_stream){.file = file, .buffer = undead_map(UNDEAD_STREAM_BUFFER)};
  return stream->buffer != NULL;
}

void undead_stream_close(undead_stream *stream) {
  if (stream->buffer) undead_unmap(stream->buffer, UNDEAD_STREAM_BUFFER);
  stream->buffer = NULL;
}

void undead_stream_flush(undead_stream *stream) {
  for (uint32_t done = 0; done < stream->used && !stream->error;) {
    long written = undead_raw3(SYS_write, stream->file, (long)(stream->buffer + done), stream->used - done);
    if (written > 0) done += (uint32_t)written;
    else if (written != -EINTR) stream->error = written < 0 ? (int)-written : EIO;
  }
  stream->written += stream->used;
  stream->used = 0;
}

uint64_t undead_stream_size(const undead_stream *stream) { return stream->written + stream->used; }

void undead_stream_align(undead_stream *stream) {
  undead_stream_make_room(stream);
  while (undead_stream_size(stream) % 8) stream->buffer[stream->used++] = 0;
}
