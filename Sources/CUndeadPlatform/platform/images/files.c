#include "platform/images/files.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include <string.h>

static const char *given;

void undead_files_give(const char *pairs) { given = pairs && *pairs ? pairs : NULL; }

bool undead_files_are_given(void) { return given != NULL; }

const char *undead_given_program(void) { return given; }

static const char *next(const char *text) { return text + strlen(text) + 1; }

static const char *place_of(const char *path) {
  for (const char *pair = given; pair && *pair; pair = next(next(pair)))
    if (!strcmp(pair, path)) return next(pair);
  return NULL;
}

const char *undead_program_file(void) { return given ? next(given) : "/proc/thread-self/exe"; }

const char *undead_file_at(uintptr_t address, const char *path, char *room, size_t size) {
  if (!given) return path;
  const char *place = undead_mapping_path(address, room, size) ? place_of(room) : NULL;
  if (!place) place = place_of(path);
  return place ? place : path;
}
