// Types of fields that cannot be copied. The runtime has no words for them yet: where a record has the type of other fields it
// has a function that gives (), and the runtime does not find such types by name. But the compiler names that record by the type,
// "get_type_metadata 5Owner noncopyable.7", and the type's descriptor has a symbol.
#include "platform/maps/maps.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/runtime.h"
#include "runtime/types.h"
#include "runtime/metadata/identifiers.h"

enum { DEEPEST = 4 };

static uintptr_t type_of_text(const char *text, size_t length, const undead_module *image, int depth);

// The end of a name of a declaration. One that is private to a file has a second identifier, for the file.
static const char *end_of_declared(const char *text, const char *end) {
  const char *at = undead_end_of_identifier(text, end), *file = at ? undead_end_of_identifier(at, end) : NULL;
  return file && end - file > 2 && !memcmp(file, "LL", 2) ? file + 2 : at;
}

// The end of the name of a struct or enum at `text`: its module, then names, each with a letter. NULL for any other type.
static const char *end_of_nominal(const char *text, const char *end, const char **module_end) {
  const char *at = *module_end = undead_end_of_identifier(text, end), *found = NULL;
  while (at && at < end && (at = end_of_declared(at, end)) && at < end && strchr("CVO", *at)) found = ++at;
  return found && found[-1] != 'C' ? found : NULL;
}

// The type's descriptor, 0 if it has no symbol in the image of the field nor in any other that exports it.
static uintptr_t descriptor_named(const char *text, size_t length, const undead_module *image) {
  char symbol[UNDEAD_MOST_TYPE_TEXT + 8] = "$s";
  if (length > UNDEAD_MOST_TYPE_TEXT) return 0;
  memcpy(symbol + 2, text, length);
  memcpy(symbol + 2 + length, "Mn", 3);
  uintptr_t descriptor = undead_symbol_address(image, symbol, NULL);
  if (!descriptor) descriptor = undead_runtime_symbol("libswiftSynchronization.", symbol);
  if (!descriptor) descriptor = undead_runtime_symbol("libswiftCore.", symbol);
  uint32_t kind = undead_descriptor_kind(descriptor);
  return kind == ABI_CONTEXT_STRUCT || kind == ABI_CONTEXT_ENUM ? descriptor : 0;
}

// Of a type with one parameter and no requirements that the runtime would pass witnesses for.
uintptr_t undead_type_of_descriptor(uintptr_t descriptor, uintptr_t argument) {
  uintptr_t function = read_relative(descriptor + ABI_DESCRIPTOR_ACCESS);
  bool generic = read_u32(descriptor) & ABI_CONTEXT_GENERIC;
  if (!undead_is_executable(function) || generic != (argument != 0)) return 0;
  if (!generic) return ((uintptr_t (*)(size_t))function)(0);
  uint32_t parameters = read_u32(descriptor + ABI_VALUE_DESCRIPTOR_PARAMETERS) & 0xFFFF;
  uint32_t keys = read_u32(descriptor + ABI_VALUE_DESCRIPTOR_KEY_ARGUMENTS) & 0xFFFF;
  return parameters == 1 && keys == 1 ? ((uintptr_t (*)(size_t, uintptr_t))function)(0, argument) : 0;
}

// "Sg" behind a type: an optional of it.
static uintptr_t optional_of_text(const char *text, size_t length, const undead_module *image, int depth) {
  uintptr_t argument = type_of_text(text, length - 2, image, depth + 1);
  uintptr_t descriptor = argument ? descriptor_named("Sq", 2, image) : 0;
  return descriptor ? undead_type_of_descriptor(descriptor, argument) : 0;
}

static uintptr_t noncopyable_of_text(const char *text, size_t length, const undead_module *image, int depth) {
  if (length > 2 && !memcmp(text + length - 2, "Sg", 2)) return optional_of_text(text, length, image, depth);
  const char *end = text + length, *module_end, *nominal_end = end_of_nominal(text, end, &module_end);
  uintptr_t descriptor = nominal_end ? descriptor_named(text, (size_t)(nominal_end - text), image) : 0;
  if (!descriptor || nominal_end == end) return descriptor ? undead_type_of_descriptor(descriptor, 0) : 0;
  if (*nominal_end != 'y' || end[-1] != 'G') return 0;
  char argument[UNDEAD_MOST_TYPE_TEXT];
  size_t argument_length = undead_plain_type(nominal_end + 1, (size_t)(end - 1 - (nominal_end + 1)), text,
                                             (size_t)(module_end - text), argument);
  uintptr_t type = argument_length ? type_of_text(argument, argument_length, image, depth + 1) : 0;
  return type ? undead_type_of_descriptor(descriptor, type) : 0;
}

static uintptr_t type_of_text(const char *text, size_t length, const undead_module *image, int depth) {
  undead_mangled name = {.address = (uintptr_t)text, .length = length};
  uintptr_t type = undead_type_of_name(&name, 0, 0);
  return type || depth == DEEPEST ? type : noncopyable_of_text(text, length, image, depth);
}

uintptr_t undead_type_of_noncopyable(const undead_mangled *name) {
  static const char start[] = "get_type_metadata ", behind[] = " noncopyable";
  if (!name->length || *(const uint8_t *)name->address != ABI_SYMBOLIC_ACCESSOR) return 0;
  uintptr_t place;
  const char *text = undead_symbol_name(name->address, &place);
  if (place != name->address || strncmp(text, start, sizeof start - 1)) return 0;
  text += sizeof start - 1;
  const char *end = strstr(text, behind);
  uintptr_t type = end ? type_of_text(text, (size_t)(end - text), undead_module_of(name->address), 0) : 0;
  size_t size, stride;
  uint32_t flags;
  // The runtime may have made it just now, in memory that it got after the map was read.
  if (type && !undead_type_layout(type, &size, &stride, &flags)) undead_maps_refresh();
  return undead_type_layout(type, &size, &stride, &flags) ? type : 0;
}
