#include "zombies/reports/log_modules.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/maps/segments.h"
#include <errno.h>
#include <string.h>

typedef struct {
  uintptr_t low, high, bias;
  char build_id[UNDEAD_BUILD_ID_TEXT];
} image;

// Asks the kernel: the map may have changed since its line was read.
static bool is_readable(const void *context, uintptr_t address, size_t size) {
  (void)context;
  return undead_pages_are_readable(address, size);
}

// An image whose headers are mapped at `base`.
static bool read_image(uintptr_t base, image *result) {
  undead_segments segments;
  if (!undead_segments_read(&segments, (const void *)base, is_readable, NULL)) return false;
  result->bias = undead_segments_bias(&segments, (const void *)base);
  result->low = result->bias + segments.low;
  result->high = result->bias + segments.high;
  undead_segments_build_id(&segments, UNDEAD_NOTES_OF_IMAGE, result->bias, is_readable, NULL, result->build_id);
  return true;
}

// Returns the end of the record, NULL without room.
static char *write_image(char *at, const char *end, const image *found, const undead_maps_line *line) {
  size_t id_bytes = strlen(found->build_id) + 1, texts = line->path_length + 1 + id_bytes;
  struct {
    uint64_t low, high, bias;
    uint32_t text_bytes, unused;
  } record = {found->low, found->high, found->bias, (uint32_t)texts, 0};
  size_t size = (sizeof record + texts + 7) & ~(size_t)7;
  if ((size_t)(end - at) < size) return NULL;
  memset(at, 0, size);
  memcpy(at, &record, sizeof record);
  memcpy(at + sizeof record, line->path, line->path_length);
  memcpy(at + sizeof record + line->path_length + 1, found->build_id, id_bytes);
  return at + size;
}

bool undead_modules_list_has(const undead_module_list *list, uintptr_t address) {
  for (uint32_t i = 0; i < list->count; i++)
    if (address >= list->range[i].low && address < list->range[i].high) return true;
  return false;
}

typedef struct {
  undead_module_list *list;
  char *at;          // NULL: there was no room
  const char *end;
} list_writer;

static bool add_image(void *context, const undead_maps_line *line) {
  list_writer *writer = context;
  undead_module_list *list = writer->list;
  image found;
  // Files only: the kernel's own image has a name in brackets.
  if (line->mapping.offset != 0 || !line->mapping.readable || !line->path_length || line->path[0] != '/') return true;
  if (undead_modules_list_has(list, line->mapping.low) || !read_image(line->mapping.low, &found)) return true;
  writer->at = write_image(writer->at, writer->end, &found, line);
  list->range[list->count].low = found.low;
  list->range[list->count++].high = found.high;
  return writer->at && list->count < UNDEAD_MODULE_LIMIT;
}

size_t undead_modules_list_write(undead_module_list *list, char *start, size_t room, uint32_t *count) {
  // There is one caller at a time.
  static char buffer[UNDEAD_MAPS_BUFFER];
  list_writer writer = {list, start, start + room};
  int saved = errno;
  list->count = 0;
  undead_maps_each_in(buffer, sizeof buffer, add_image, &writer);
  list->known = true;
  *count = list->count;
  errno = saved;
  return writer.at ? (size_t)(writer.at - start) : 0;
}
