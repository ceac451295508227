// The map read into a buffer of the caller's is that of the file, however small the buffer: lines that it cannot hold are left out.
#include "../record/check.h"
#include "platform/maps/maps.h"
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

typedef struct {
  uintptr_t place;
  size_t lines, longest;
  bool is_program;
  const char *program;
} seen;

static bool note(void *context, const undead_maps_line *line) {
  seen *all = context;
  all->lines++;
  if (line->path_length > all->longest) all->longest = line->path_length;
  if (all->place >= line->mapping.low && all->place < line->mapping.high)
    all->is_program = line->path_length == strlen(all->program) && !memcmp(line->path, all->program, line->path_length)
      && line->mapping.readable;
  return true;
}

static bool stop(void *context, const undead_maps_line *line) {
  (void)line;
  ++*(size_t *)context;
  return false;
}

static seen read_with(size_t size, const char *program) {
  static char buffer[UNDEAD_MAPS_BUFFER];
  seen all = {.place = (uintptr_t)note, .program = program};
  undead_maps_each_in(buffer, size, note, &all);
  return all;
}

int main(int count, char **arguments) {
  (void)count;
  seen whole = read_with(UNDEAD_MAPS_BUFFER, arguments[1]), pieces = read_with(600, arguments[1]);
  CHECK(whole.is_program && whole.lines > 10);
  CHECK(pieces.is_program && pieces.lines == whole.lines && pieces.longest == whole.longest);
  // "55d0c0a00000-55d0c0a01000 r--p 00000000 08:01 1234" has about 50 characters before a path.
  seen narrow = read_with(60, arguments[1]);
  CHECK(narrow.lines < whole.lines);
  size_t visits = 0;
  char buffer[1024];
  CHECK(undead_maps_each_in(buffer, sizeof buffer, stop, &visits) && visits == 1);
  return failures != 0;
}
