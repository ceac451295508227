// "$s", the module, the types around the variable, its name, "vp", and "Z" if it is static (docs/ABI/Mangling.rst of the Swift
// repository). Of substitutions only "AA" is understood, the module: private types, which the runtime does not find by name, have
// others.
#include "runtime/variables.h"
#include "platform/memory/own_data.h"
#include "runtime/evidence/evidence.h"
#include "runtime/metadata/identifiers.h"
#include "runtime/metadata/memory_reader.h"
#include "platform/system/text.h"

enum { MOST_PARTS = 16 };

typedef struct {
  const char *text;
  size_t length;
} piece;

// What the name of a variable says.
typedef struct {
  piece module, own, type;   // `own` is what the variable itself is called
} variable_name;

// Behind a private name stands where it is declared: an identifier and "LL".
static const char *skip_file(const char *text, const char *end) {
  const char *file = undead_end_of_identifier(text, end);
  return file && end - file >= 2 && file[0] == 'L' && file[1] == 'L' ? file + 2 : text;
}

// False if the name is of another form.
static bool take_apart(const char *text, const char *end, variable_name *name) {
  const char *module_end = undead_end_of_identifier(text, end);
  *name = (variable_name){.module = {text, module_end ? (size_t)(module_end - text) : 0}};
  text = module_end;
  for (int part = 0; text && part < MOST_PARTS; part++) {
    name->own.text = text;
    if (!(text = undead_end_of_identifier(text, end))) return false;
    name->own.length = (size_t)(text - name->own.text);
    text = skip_file(text, end);
    name->type = (piece){text, (size_t)(end - text)};
    if (text == end || !strchr("CVO", *text)) return text < end;
    text++;
  }
  return false;
}

static uint32_t numbers_of_type(uintptr_t type, size_t size) {
  static undead_evidence_map map;
  size_t type_size, stride;
  uint32_t flags, numbers = 0;
  if (!type || !undead_type_layout(type, &type_size, &stride, &flags) || type_size != size) return 0;
  undead_evidence_clear(&map);
  undead_evidence_of_type(&map, type, 0);
  for (uint32_t i = 0; i < UNDEAD_VARIABLE_WORDS && 8 * (i + 1) <= size; i++)
    if (undead_evidence_word(&map, 8 * i) == UNDEAD_EVIDENCE_NUMBER) numbers |= 1u << i;
  return numbers;
}

// Where the mangled type of a variable ends; NULL if the symbol is that of something else.
static const char *end_of_type(const char *symbol) {
  size_t length = strlen(symbol);
  if (length > UNDEAD_MOST_TYPE_TEXT || !undead_starts_with(symbol, "$s")) return NULL;
  const char *end = symbol + length;
  if (end[-1] == 'Z') end--;
  return end - symbol >= 6 && end[-2] == 'v' && end[-1] == 'p' ? end - 2 : NULL;
}

static bool ends_with_text(piece type, const char *text) {
  size_t length = strlen(text);
  return type.length >= length && !memcmp(type.text + type.length - length, text, length);
}

static bool piece_is(piece type, const char *text) { return type.length == strlen(text) && ends_with_text(type, text); }

int undead_variable_descriptor(const char *symbol, size_t size) {
  const char *end = size == 4 || size == 5 || size == 8 ? end_of_type(symbol) : NULL;
  variable_name parts;
  if (!end || !take_apart(symbol + 2, end, &parts)) return -1;
  while (parts.own.length && *parts.own.text >= '0' && *parts.own.text <= '9') parts.own.text++, parts.own.length--;
  bool is_int = undead_names_descriptor(parts.own.text, parts.own.length, true);
  if (size == 4 && (ends_with_text(parts.type, "escriptorV") || (is_int && piece_is(parts.type, "s5Int32V"))))
    return UNDEAD_DESCRIPTOR_WHOLE;
  if (size == 5 && (ends_with_text(parts.type, "escriptorVSg") || (is_int && piece_is(parts.type, "s5Int32VSg"))))
    return UNDEAD_DESCRIPTOR_OPTIONAL;
  bool is_number = undead_names_descriptor(parts.own.text, parts.own.length, false);
  return size == 8 && is_number && piece_is(parts.type, "Si") ? UNDEAD_DESCRIPTOR_WIDE : -1;
}

uint32_t undead_variable_numbers(const char *symbol, size_t size) {
  char text[UNDEAD_MOST_TYPE_TEXT];
  const char *module = symbol + 2, *end = size < 8 ? NULL : end_of_type(symbol);
  if (!end) return 0;
  // Objects and collections are the most; they are one reference.
  if (end[-1] == 'C' || end[-1] == 'G' || end[-1] == 'c') return 0;
  variable_name parts;
  if (!take_apart(module, end, &parts) || !undead_runtime_find()) return 0;
  undead_mangled name = {.address = (uintptr_t)text, };
  name.length = undead_plain_type(parts.type.text, parts.type.length, parts.module.text, parts.module.length, text);
  return name.length ? numbers_of_type(undead_type_of_name(&name, 0, 0), size) : 0;
}
