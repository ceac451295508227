// What only the names of fields tell: which numbers are those of open files, and where a ByteBuffer of NIO has the range that it
// shows of its storage. A field of another name or size is none, so what a library changes is not reported any more, and never wrong.
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/evidence/evidence.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/runtime.h"

enum { MOST_DESCRIPTORS = 16, DEEPEST = 3, LARGEST_VALUE = 64 };

typedef struct {
  undead_descriptor_field fields[MOST_DESCRIPTORS];
  uint32_t count;
} descriptor_list;

static bool ends_with(const char *name, size_t length, const char *end) {
  size_t size = strlen(end);
  return length >= size && !memcmp(name + length - size, end, size);
}

// "fd", "socketFD", "listen_fd", "fileDescriptor", "socket".
static bool names_descriptor(const char *name) {
  static const char *const whole[] = {"fd", "socket", "_socket", "sock", "handle", "_handle", "sockfd", "socketHandle"};
  static const char *const ends[] = {"_fd", "FD", "Fd", "escriptor"};
  size_t length = strlen(name);
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    if (!strcmp(name, whole[i])) return true;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (ends_with(name, length, ends[i])) return true;
  return false;
}

static bool is_int32(const undead_field *field) {
  static const char text[] = "s5Int32V";
  if (field->simple)
    return field->mangled.length == sizeof text - 1 && !memcmp((const void *)field->mangled.address, text, sizeof text - 1);
  return undead_descriptor_is(undead_type_descriptor(field->type), "Swift", "Int32");
}

static bool is_optional_int32(const undead_field *field) {
  if (field->size != 5 || undead_type_kind(field->type) != ABI_KIND_OPTIONAL) return false;
  uintptr_t argument = read_word(field->type + ABI_VALUE_GENERIC_ARGUMENTS);
  return undead_descriptor_is(undead_type_descriptor(argument), "Swift", "Int32");
}

// `outer` is the field that the value lies in, NULL for a class; with `named` its name says what a number in it is.
static void add_descriptors(descriptor_list *list, uintptr_t type, uint32_t base, const char *outer, bool named, int depth) {
  const undead_fields *fields = undead_fields_lazily(type);
  for (uint32_t i = 0; i < fields->count && list->count < MOST_DESCRIPTORS; i++) {
    const undead_field *field = &fields->field[i];
    uint32_t offset = base + field->offset;
    if (field->offset == UINT32_MAX || field->size < 4 || field->size > LARGEST_VALUE || field->indirect) continue;
    bool is_named = named || names_descriptor(field->name);
    const char *shown = outer ? outer : field->name;
    bool whole = field->size == 4 && is_named && is_int32(field);
    if (whole || (is_named && field->type && is_optional_int32(field)))
      list->fields[list->count++] = (undead_descriptor_field){offset, !whole, shown};
    else if (field->type && depth < DEEPEST && undead_type_kind(field->type) == ABI_KIND_STRUCT) {
      const char *name = undead_descriptor_name(undead_type_descriptor(field->type));
      // Of a value with more than a number only its own names tell which that is.
      bool is_number = field->size == 4 && (is_named || ends_with(name, strlen(name), "Descriptor"));
      add_descriptors(list, field->type, offset, shown, is_number, depth + 1);
    }
  }
}

// Type of what a collection has; of a dictionary that of its values. 0 for other objects.
static uintptr_t element_type(const undead_layout *layout) {
  uintptr_t arguments = undead_has_elements(layout) ? undead_class_arguments(layout->isa) : 0;
  bool has_keys = layout->storage == UNDEAD_STORAGE_DICTIONARY;
  return arguments ? read_word(arguments + has_keys * sizeof(uintptr_t)) : 0;
}

static void learn_descriptors(undead_layout *layout) {
  descriptor_list list = {.count = 0};
  uintptr_t element = element_type(layout);
  if (element && undead_type_kind(element) == ABI_KIND_STRUCT) add_descriptors(&list, element, 0, NULL, false, 0);
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
  learn_byte_storage(layout);
}
