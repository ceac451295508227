// symbols: names of an image's symbol table are found, whatever they begin and end with, at the first place of that name; names
// that only look alike are not. None of them is exported: they are in the table of the file alone.
#include "../record/check.h"
#include "platform/maps/maps.h"
#include <string.h>

#define LONG "a_name_whose_first_32_characters_are_those_of_others_too"
#define NAMED(variable, name) static __attribute__((used)) int variable __asm__(name)

NAMED(one_character, "!") = 1;
NAMED(seven, "!234567") = 2;
NAMED(eight, "!2345678") = 3;
NAMED(nine, "!23456789") = 4;
NAMED(thirty_one, "!234567890123456789012345678901") = 5;
NAMED(thirty_two, "!2345678901234567890123456789012") = 6;
NAMED(thirty_three, "!23456789012345678901234567890123") = 7;
NAMED(tail_of_other, "89012345678901234567890123") = 8;
NAMED(long_plain, LONG) = 9;
NAMED(long_longer, LONG "_longer") = 10;
NAMED(long_other, LONG "_more") = 11;
NAMED(high_bits, "!\xff\x80\xc3\xa4\x80\x01") = 12;
NAMED(all_high, "\x80\x80\x80\x80\x80\x80\x80\x80") = 13;
static __attribute__((used)) _Thread_local int per_thread_number = 14;

typedef struct {
  const char *name;
  int *place;
} known_name;

static const undead_module *own_module(void) { return undead_module_of((uintptr_t)own_module); }

static uintptr_t find(const char *name, size_t *size) { return undead_symbol_address(own_module(), name, size); }

static void check_known(void) {
  const known_name known[] = {{"!", &one_character}, {"!234567", &seven}, {"!2345678", &eight}, {"!23456789", &nine},
                              {"!234567890123456789012345678901", &thirty_one},
                              {"!2345678901234567890123456789012", &thirty_two},
                              {"!23456789012345678901234567890123", &thirty_three},
                              {"89012345678901234567890123", &tail_of_other}, {LONG, &long_plain},
                              {LONG "_longer", &long_longer}, {LONG "_more", &long_other},
                              {"!\xff\x80\xc3\xa4\x80\x01", &high_bits}, {"\x80\x80\x80\x80\x80\x80\x80\x80", &all_high}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    size_t size = 0;
    CHECK(find(known[i].name, &size) == (uintptr_t)known[i].place);
    CHECK(size == sizeof(int));
  }
  CHECK(find("per_thread_number", NULL) != 0);
}

static void check_strangers(void) {
  static const char *const strangers[] = {"", "!2", "!23456", "!2345678901234567890123456789013", LONG "_", "a_name",
                                          "\x80\x80\x80\x80\x80\x80\x80\x80\x80", "per_thread_numbe"};
  for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) CHECK(find(strangers[i], NULL) == 0);
}

static size_t visited;

// Of several variables of one name the first is found.
static bool look_for(void *context, const char *name, uintptr_t address, size_t size) {
  (void)context, (void)size;
  static char names[512][64];
  static uintptr_t places[512];
  size_t i = 0;
  if (strlen(name) >= sizeof names[0] || visited == 512) return true;
  while (i < visited && strcmp(names[i], name)) i++;
  if (i == visited) {
    strcpy(names[i], name);
    places[i] = address;
    visited++;
  }
  CHECK(find(name, NULL) == places[i]);
  return true;
}

int main(void) {
  undead_modules_refresh();
  check_known();
  check_strangers();
  CHECK(undead_symbols_each_variable(own_module(), look_for, NULL));
  CHECK(visited > 100);
  undead_symbols_let_go();
  check_known();
  undead_symbols_forget();
  undead_modules_refresh();
  check_known();
  printf("%zu names\n", visited);
  return failures != 0;
}
