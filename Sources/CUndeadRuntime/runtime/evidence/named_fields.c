// What only the names of fields and of types tell: which numbers are those of open files, and where a ByteBuffer of NIO has the range
// that it shows of its storage. A field of another name or size is none, so what a library changes is not reported any more, and never wrong.
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/evidence/evidence.h"
#include "runtime/captures/captures.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/runtime.h"

enum { MOST_DESCRIPTORS = 16, DEEPEST = 3, LARGEST_VALUE = 64 };

typedef struct {
  undead_descriptor_field fields[MOST_DESCRIPTORS];
  uint32_t count;
} descriptor_list;

static bool name_ends_with(const char *name, size_t length, const char *end) {
  size_t size = strlen(end);
  return length >= size && !memcmp(name + length - size, end, size);
}

static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// Where the last word of a name in camel case begins, or behind an underscore: "Socket" of "clientSocket", "FD" of "socketFD".
static size_t last_word(const char *name, size_t length) {
  size_t at = length;
  while (at > 0 && is_upper(name[at - 1])) at--;
  if (at < length) return at;
  while (at > 0 && name[at - 1] != '_' && !is_upper(name[at - 1])) at--;
  return at > 0 && is_upper(name[at - 1]) ? at - 1 : at;
}

// Regardless of case.
static bool is_this_word(const char *name, size_t length, const char *word) {
  if (length != strlen(word)) return false;
  for (size_t i = 0; i < length; i++)
    if ((name[i] | 0x20) != word[i]) return false;
  return true;
}

static bool is_one_word(const char *name, size_t length, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (is_this_word(name, length, words[i])) return true;
  return false;
}

#define IS_ONE_OF(name, length, ...) \
  is_one_word(name, length, (const char *const[]){__VA_ARGS__}, sizeof (const char *const[]){__VA_ARGS__} / sizeof (char *))

// A word that many numbers are called by: alone it says enough, and behind what has descriptors ("socketHandle", not "textureHandle").
static bool is_handle_of_file(const char *name, size_t start) {
  while (start > 0 && name[start - 1] == '_') start--;
  size_t before = last_word(name, start);
  return !start || IS_ONE_OF(name + before, start - before, "socket", "sock", "file", "pipe", "listen", "server", "client", "connection");
}

// "fd", "epfd", "socketFD", "listen_fd2", "fileDescriptor"; of an int also "clientSocket" and "handle". Not "maxFd": a limit, or what was
// open once.
bool undead_names_descriptor(const char *name, size_t length, bool is_int) {
  while (length && name[length - 1] >= '0' && name[length - 1] <= '9') length--;
  size_t start = last_word(name, length), size = length - start;
  const char *word = name + start;
  bool is_named = name_ends_with(name, length, "ileDescriptor") || (size >= 2 && is_this_word(word + size - 2, 2, "fd"));
  // A number that C would not call an int may be that of anything else.
  bool is_named_int = is_int
    && (IS_ONE_OF(word, size, "socket", "sock") || (IS_ONE_OF(word, size, "handle", "descriptor") && is_handle_of_file(name, start)));
  if (!is_named && !is_named_int) return false;
  for (size_t end = start; end > 0; end = start) {
    if (name[end - 1] == '_') {
      start = end - 1;
      continue;
    }
    start = last_word(name, end);
    if (IS_ONE_OF(name + start, end - start, "max", "maximum", "min", "minimum", "limit", "count", "number", "num", "highest", "lowest",
                  "old"))
      return false;
  }
  return true;
}

static bool names_int(const undead_field *field) { return undead_names_descriptor(field->name, strlen(field->name), true); }

static bool is_type_of(const undead_field *field, const char *mangled, const char *name) {
  size_t length = strlen(mangled);
  if (field->simple) return field->mangled.length == length && !memcmp((const void *)field->mangled.address, mangled, length);
  return undead_descriptor_is(undead_type_descriptor(field->type), "Swift", name);
}

static bool is_int32(const undead_field *field) { return is_type_of(field, "s5Int32V", "Int32"); }

static bool is_type_int32(uintptr_t type) { return undead_descriptor_is(undead_type_descriptor(type), "Swift", "Int32"); }

// "struct FileDescriptor { let rawValue: CInt }", as swift-system has it.
static bool is_descriptor_type(uintptr_t type) {
  size_t size, stride;
  uint32_t flags;
  if (undead_type_kind(type) != ABI_KIND_STRUCT || !undead_type_layout(type, &size, &stride, &flags) || size != 4) return false;
  const char *name = undead_descriptor_name(undead_type_descriptor(type));
  const undead_fields *fields = name_ends_with(name, strlen(name), "escriptor") ? undead_fields_lazily(type) : NULL;
  return fields && fields->count == 1 && is_int32(&fields->field[0]);
}

// What one case has, or an optional: a byte behind it is 0 if it is there. 0 for other types.
static uintptr_t payload_of(const undead_field *field) {
  if (field->size != 5 || !field->type) return 0;
  if (undead_type_kind(field->type) == ABI_KIND_OPTIONAL) return read_word(field->type + ABI_VALUE_GENERIC_ARGUMENTS);
  if (undead_type_kind(field->type) != ABI_KIND_ENUM) return 0;
  const undead_fields *cases = undead_fields_of(field->type);
  uintptr_t payload = 0;
  for (uint32_t i = 0; i < cases->count; i++) {
    if (!cases->field[i].type) continue;
    if (payload || cases->field[i].size != 4) return 0;
    payload = cases->field[i].type;
  }
  return payload;
}

// How a field has the number of an open file; -1 if it has none.
static int form_of(const undead_field *field, bool named) {
  bool is_named = named || names_int(field);
  if (field->size == 4 && is_named && is_int32(field)) return UNDEAD_DESCRIPTOR_WHOLE;
  bool names_number = undead_names_descriptor(field->name, strlen(field->name), false);
  if (field->size == 8 && names_number && is_type_of(field, "Si", "Int")) return UNDEAD_DESCRIPTOR_WIDE;
  uintptr_t payload = payload_of(field);
  if (payload && (is_descriptor_type(payload) || (is_named && is_type_int32(payload)))) return UNDEAD_DESCRIPTOR_OPTIONAL;
  return -1;
}

// `outer` is the field that the value lies in, NULL for a class; with `named` its name says what a number in it is.
static void add_descriptors(descriptor_list *list, uintptr_t type, uint32_t base, const char *outer, bool named, int depth) {
  const undead_fields *fields = undead_fields_lazily(type);
  for (uint32_t i = 0; i < fields->count && list->count < MOST_DESCRIPTORS; i++) {
    const undead_field *field = &fields->field[i];
    uint32_t offset = base + field->offset;
    if (field->offset == UINT32_MAX || field->size < 4 || field->size > LARGEST_VALUE || field->indirect) continue;
    const char *shown = outer ? outer : field->name;
    int form = form_of(field, named);
    if (form >= 0)
      list->fields[list->count++] = (undead_descriptor_field){offset, (uint8_t)form, false, shown};
    else if (field->type && depth < DEEPEST && undead_type_kind(field->type) == ABI_KIND_STRUCT) {
      // Of a value with more than a number only its own names tell which that is.
      bool is_number = field->size == 4 && (named || names_int(field) || is_descriptor_type(field->type));
      add_descriptors(list, field->type, offset, shown, is_number, depth + 1);
    }
  }
}

static void add_elements(descriptor_list *list, uintptr_t type, bool key, const char *name) {
  if (undead_type_kind(type) != ABI_KIND_STRUCT) return;
  uint32_t first = list->count;
  if (is_type_int32(type) || is_descriptor_type(type))
    list->fields[list->count++] = (undead_descriptor_field){.form = UNDEAD_DESCRIPTOR_WHOLE, .name = name};
  else add_descriptors(list, type, 0, NULL, false, 0);
  for (uint32_t i = first; i < list->count; i++) list->fields[i].key = key;
}

static void learn_elements(descriptor_list *list, const undead_layout *layout) {
  uintptr_t arguments = undead_class_arguments(layout->isa);
  if (!arguments) return;
  if (layout->storage == UNDEAD_STORAGE_ARRAY) add_elements(list, read_word(arguments), false, "[]");
  if (layout->storage == UNDEAD_STORAGE_SET) add_elements(list, read_word(arguments), false, "[element]");
  if (layout->storage != UNDEAD_STORAGE_DICTIONARY) return;
  add_elements(list, read_word(arguments + sizeof(uintptr_t)), false, "[value]");
  if (list->count < MOST_DESCRIPTORS) add_elements(list, read_word(arguments), true, "[key]");
}

// What a closure captured, and captured variables, have no names. Of an int only the code tells that it is the number of a file.
static void learn_captures(descriptor_list *list, uintptr_t isa) {
  const undead_fields *captures = undead_captures_lazily(isa);
  for (uint32_t i = 0; i < captures->count && list->count < MOST_DESCRIPTORS; i++) {
    const undead_field *field = &captures->field[i];
    if (field->offset == UINT32_MAX || field->size < 4 || field->size > LARGEST_VALUE) continue;
    uintptr_t payload = payload_of(field);
    undead_descriptor_field found = {.offset = field->offset, .name = UNDEAD_CAPTURED};
    if (is_int32(field)) found.name = UNDEAD_CAPTURED_INT;
    else if (payload && is_descriptor_type(payload)) found.form = UNDEAD_DESCRIPTOR_OPTIONAL;
    else if (!field->type || !is_descriptor_type(field->type)) {
      if (field->type && undead_type_kind(field->type) == ABI_KIND_STRUCT) add_descriptors(list, field->type, field->offset, NULL, false, 1);
      continue;
    }
    list->fields[list->count++] = found;
  }
}

static void learn_descriptors(undead_layout *layout) {
  descriptor_list list = {.count = 0};
  if (undead_has_elements(layout)) learn_elements(&list, layout);
  if (layout->kind == UNDEAD_KIND_CONTEXT) learn_captures(&list, layout->isa);
  uintptr_t isa = undead_has_elements(layout) ? 0 : layout->isa;
  for (; isa && undead_type_kind(isa) == ABI_KIND_CLASS; isa = read_word(isa + ABI_CLASS_SUPER))
    add_descriptors(&list, isa, 0, NULL, false, 0);
  size_t bytes = list.count * sizeof list.fields[0];
  undead_descriptor_field *fields = bytes ? undead_keep(bytes) : NULL;
  if (!fields) return;
  layout->descriptors = memcpy(fields, list.fields, bytes);
  layout->descriptor_count = list.count;
}

static const undead_field *field_named(const undead_fields *fields, const char *name, uint32_t size) {
  for (uint32_t i = 0; i < fields->count; i++)
    if (!strcmp(fields->field[i].name, name) && (!size || fields->field[i].size == size)) return &fields->field[i];
  return NULL;
}

// NIOCore: struct ByteBuffer { _storage, _readerIndex, _writerIndex, _slice: { upperBound, _begin } }, whose storage is a class of two
// fields and an allocator. Indices are relative to the slice.
static void learn_byte_storage(undead_layout *layout) {
  uintptr_t descriptor = read_word(layout->isa + ABI_CLASS_DESCRIPTOR);
  if (!undead_descriptor_is(descriptor, "NIOCore", "_Storage")) return;
  uintptr_t buffer = read_relative_indirectable(descriptor + ABI_DESCRIPTOR_PARENT);
  if (!undead_descriptor_is(buffer, "NIOCore", "ByteBuffer") || undead_descriptor_kind(buffer) != ABI_CONTEXT_STRUCT) return;
  const undead_field *capacity = field_named(undead_fields_of(layout->isa), "capacity", 4);
  const undead_fields *fields = undead_fields_of(undead_type_of_descriptor(buffer, 0));
  const undead_field *storage = field_named(fields, "_storage", 8), *slice = field_named(fields, "_slice", 0);
  const undead_fields *range = slice ? undead_fields_of(slice->type) : NULL;
  const undead_field *low = range ? field_named(range, "_begin", 3) : NULL, *high = range ? field_named(range, "upperBound", 4) : NULL;
  if (!capacity || !storage || !low || !high || slice->offset <= storage->offset) return;
  layout->capacity = capacity->offset;
  layout->slice = (undead_slice_layout){.low = slice->offset - storage->offset + low->offset,
                                        .high = slice->offset - storage->offset + high->offset};
}

void undead_named_fields_learn(undead_layout *layout) {
  learn_descriptors(layout);
  if (layout->kind == UNDEAD_KIND_CONTEXT) return;
  learn_byte_storage(layout);
}
