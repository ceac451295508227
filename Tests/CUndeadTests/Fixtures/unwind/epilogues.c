// For every call in a library: the rule that its unwind information gives for the return address, and the one that is
// found by following the code, must be the same. Linked with the sources of the instrument; the argument is the library.
#define _GNU_SOURCE
#include "unwind/rules/dwarf_reader.h"
#include "unwind/rules/guess_x86_64.h"
#include "undead_instruction_x86_64.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long same, different, unknown, undecoded;

static bool is_call(const undead_instruction *i) {
  if (i->map != UNDEAD_MAP_ONE_BYTE || i->is_vector) return false;
  return i->opcode == 0xE8 || (i->opcode == 0xFF && UNDEAD_MODRM_REG(i->modrm) == 2);
}

// Rules relative to rsp and to rbp cannot be compared, but both say where rbp was saved.
static bool agree(undead_rule a, undead_rule b) {
  if (undead_rule_saved(a) != undead_rule_saved(b)) return false;
  return (a & UNDEAD_RULE_BP) != (b & UNDEAD_RULE_BP) || undead_rule_offset(a) == undead_rule_offset(b);
}

static void check(const undead_image *image, uintptr_t pc) {
  undead_rule known = undead_rule_compute(pc - 1);
  if (undead_rule_kind(known) || known & UNDEAD_RULE_GUESS) return;
  undead_rule found = undead_rule_of_epilogue(image, pc, true);
  if (undead_rule_kind(found)) {
    unknown++;
  } else if (agree(known, found)) {
    same++;
  } else if (different++ < 10) {
    fprintf(stderr, "at %#lx of the library: rule %#lx, followed %#lx\n", pc - image->low, known, found);
  }
}

static void check_function(const undead_image *image, uintptr_t start, uintptr_t size) {
  undead_instruction i;
  for (uintptr_t at = start; at < start + size; at += i.length) {
    if (!undead_instruction_decode((const uint8_t *)at, start + size - at, &i)) {
      undecoded++;
      return;
    }
    if (is_call(&i) && at + i.length < start + size) check(image, at + i.length);
  }
}

// .eh_frame_hdr: a sorted table of pairs, offsets of the function and of its entry (LSB, "Exception Frames").
static void check_image(const undead_image *image) {
  const uint8_t *header = image->eh_frame_hdr;
  dwarf_reader reader = {header + 4, header + 20, false};
  dwarf_encoded(&reader, header[1], (uintptr_t)header);
  uintptr_t count = dwarf_encoded(&reader, header[2], (uintptr_t)header);
  const int32_t *table = (const int32_t *)reader.at;
  for (uintptr_t index = 0; index < count; index++) {
    const uint8_t *entry = header + table[2 * index + 1];
    dwarf_reader range = {entry + 12, entry + 16, false};
    check_function(image, (uintptr_t)header + (uintptr_t)(intptr_t)table[2 * index], dwarf_encoded(&range, 0x03, 0));
  }
}

int main(int count, char **arguments) {
  undead_image image;
  void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  void *symbol = library ? dlsym(library, "swift_retain") : NULL;
  if (!symbol || !undead_image_find((uintptr_t)symbol, &image)) {
    fprintf(stderr, "%s cannot be loaded\n", count > 1 ? arguments[1] : "no library");
    return 2;
  }
  check_image(&image);
  printf("same %lu different %lu unknown %lu undecoded %lu\n", same, different, unknown, undecoded);
  return 0;
}
