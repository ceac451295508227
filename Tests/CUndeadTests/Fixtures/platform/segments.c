// segments FILE: the program headers and the build id are the same in a file and in its image; damaged headers lead nowhere.
#define _GNU_SOURCE
#include "../record/check.h"
#include "platform/maps/segments.h"
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *start;
  size_t size;
} area;

static bool is_inside(const void *context, uintptr_t address, size_t bytes) {
  const area *whole = context;
  size_t offset = address - (uintptr_t)whole->start;
  return offset <= whole->size && bytes <= whole->size - offset;
}

static bool everywhere(const void *context, uintptr_t address, size_t bytes) {
  (void)context, (void)address, (void)bytes;
  return true;
}

static area read_file(const char *path) {
  FILE *file = fopen(path, "r");
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  static char *content;   // behind it the sanitizer lets nothing pass
  content = malloc(size);
  size_t got = fread(content, 1, size, file);
  fclose(file);
  return (area){content, got};
}

typedef struct {
  uintptr_t bias, low, high;
  char build_id[UNDEAD_BUILD_ID_TEXT];
} expected;

// The program, which the loader lists first.
static int note_program(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  undead_segments segments = undead_segments_of(info->dlpi_phdr, info->dlpi_phnum);
  expected *program = context;
  *program = (expected){info->dlpi_addr, segments.low, segments.high};
  undead_segments_build_id(&segments, UNDEAD_NOTES_OF_IMAGE, info->dlpi_addr, NULL, NULL, program->build_id);
  return 1;
}

extern const char __ehdr_start[];

static void check_damage(area whole) {
  Elf64_Ehdr *header = (Elf64_Ehdr *)whole.start, intact = *header;
  undead_segments segments;
  char id[UNDEAD_BUILD_ID_TEXT];
  for (size_t i = 0; i < 200000; i++) {
    size_t at = (size_t)random() % 1024;
    char *byte = (char *)whole.start + at, before = *byte;
    *byte = (char)random();
    if (undead_segments_read(&segments, whole.start, is_inside, &whole))
      undead_segments_build_id(&segments, UNDEAD_NOTES_OF_FILE, (uintptr_t)whole.start, is_inside, &whole, id);
    *byte = before;
  }
  header->e_phoff = UINT64_MAX - 7;
  CHECK(!undead_segments_read(&segments, whole.start, is_inside, &whole));
  CHECK(!undead_segments_read(&segments, whole.start, everywhere, NULL));
  *header = intact;
  header->e_type = ET_CORE;
  CHECK(!undead_segments_read(&segments, whole.start, is_inside, &whole));
  *header = intact;
  header->e_ident[EI_CLASS] = ELFCLASS32;
  CHECK(!undead_segments_read(&segments, whole.start, is_inside, &whole));
  *header = intact;
  area short_of_headers = {whole.start, header->e_phoff + header->e_phnum * sizeof(Elf64_Phdr) - 1};
  CHECK(!undead_segments_read(&segments, whole.start, is_inside, &short_of_headers));
}

int main(int count, char **arguments) {
  expected program;
  undead_segments of_file, of_image;
  char id[UNDEAD_BUILD_ID_TEXT];
  CHECK(count == 3 && dl_iterate_phdr(note_program, &program) == 1);
  CHECK(!strcmp(program.build_id, arguments[2]));
  CHECK(undead_segments_read(&of_image, __ehdr_start, everywhere, NULL));
  CHECK(undead_segments_bias(&of_image, __ehdr_start) == program.bias);
  CHECK(of_image.low == program.low && of_image.high == program.high);
  area whole = read_file(arguments[1]);
  CHECK(undead_segments_read(&of_file, whole.start, is_inside, &whole));
  CHECK(of_file.low == program.low && of_file.high == program.high && of_file.count == of_image.count);
  undead_segments_build_id(&of_file, UNDEAD_NOTES_OF_FILE, (uintptr_t)whole.start, is_inside, &whole, id);
  CHECK(!strcmp(id, arguments[2]));
  check_damage(whole);
  return failures != 0;
}
