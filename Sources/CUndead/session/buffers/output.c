// A file that is written in order, through a buffer, or memory alone. Parts can be patched and skipped; the first error stays,
// and nothing is written behind it.
#include "session/buffers/buffers.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (1u << 20)

uint64_t undead_output_offset(const undead_output *output) { return output->flushed + output->bytes.size; }

void undead_output_flush(undead_output *output) {
  if (output->file < 0) return;
  size_t done = 0;
  while (done < output->bytes.size && output->error == 0) {
    ssize_t written = write(output->file, output->bytes.bytes + done, output->bytes.size - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) output->error = written < 0 ? errno : EIO;
    else done += (size_t)written;
  }
  output->flushed += output->bytes.size;
  output->bytes.size = 0;
}

void undead_output_write(undead_output *output, const void *bytes, size_t size) {
  if (output->error) return;
  if (!undead_vector_append(&output->bytes, bytes, size)) output->error = ENOMEM;
  if (output->file >= 0 && output->bytes.size >= BUFFER_BYTES) undead_output_flush(output);
}

void undead_output_align(undead_output *output) {
  static const uint8_t zeros[8];
  undead_output_write(output, zeros, (8 - undead_output_offset(output) % 8) % 8);
}

void undead_output_patch(undead_output *output, const void *bytes, size_t size, uint64_t offset) {
  if (output->error) return;
  if (output->file < 0) {
    memcpy(output->bytes.bytes + offset, bytes, size);
    return;
  }
  ssize_t written = pwrite(output->file, bytes, size, (off_t)offset);
  if (written != (ssize_t)size) output->error = written < 0 ? errno : EIO;
}

void undead_output_skip(undead_output *output, uint64_t bytes) {
  undead_output_flush(output);
  output->flushed += bytes;
  if (output->error == 0 && lseek(output->file, (off_t)output->flushed, SEEK_SET) < 0) output->error = errno;
}

static uint64_t add_words(uint64_t sum, const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i + 8 <= size; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, 8);
    sum = (sum ^ word) * 0x100000001b3u;
  }
  return sum;
}

uint64_t undead_output_checksum(undead_output *output, uint64_t offset) {
  uint64_t sum = 0xcbf29ce484222325u;
  if (output->error) return 0;
  if (output->file < 0) return add_words(sum, output->bytes.bytes + offset, output->bytes.size - offset);
  // The file is read back, so that its size is not needed as memory; the buffer is free now.
  if (!undead_vector_reserve(&output->bytes, BUFFER_BYTES)) output->error = ENOMEM;
  while (output->error == 0 && offset < output->flushed) {
    size_t wanted = output->flushed - offset < BUFFER_BYTES ? output->flushed - offset : BUFFER_BYTES;
    ssize_t got = pread(output->file, output->bytes.bytes, wanted, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got != (ssize_t)wanted) output->error = got < 0 ? errno : EIO;
    else sum = add_words(sum, output->bytes.bytes, wanted);
    offset += wanted;
  }
  return sum;
}
