// The fields of classes, structs, enums and tuples with their offsets and types: read from the descriptors once, and kept. What of a
// type is not known, as of a field that cannot be copied, is found by the names in noncopyable.c.
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/runtime.h"
#include "runtime/types.h"
#include <stdio.h>

enum { MAX_FIELD_NAME = 4096, MAX_ELEMENTS = 4096 };

static const undead_fields no_fields;

undead_fields *undead_new_fields(uint32_t count) {
  undead_fields *fields = undead_keep(sizeof *fields + count * sizeof fields->field[0]);
  if (fields) fields->count = count;
  return fields;
}

// Storage of a reference that is not strong: one word, then the witness tables of a protocol type.
static size_t size_of_field(const undead_field *field) {
  size_t size = 0, stride;
  uint32_t flags;
  if (field->type && undead_type_layout(field->type, &size, &stride, &flags)) return size;
  return 8;
}

static void read_record(undead_field *field, uintptr_t record, uintptr_t descriptor, uintptr_t arguments, bool lazily) {
  bool generic = read_u32(descriptor) & ABI_CONTEXT_GENERIC;
  const char *name = read_text(read_relative(record + ABI_FIELD_RECORD_NAME), MAX_FIELD_NAME);
  uintptr_t type = read_relative(record + ABI_FIELD_RECORD_TYPE);
  field->name = name ? name : "";
  field->indirect = read_u32(record + ABI_FIELD_RECORD_FLAGS) & ABI_FIELD_INDIRECT_CASE;
  if (type) {
    field->mangled = undead_mangled_at(type);
    field->ownership = (uint8_t)undead_mangled_ownership(&field->mangled);
    if (lazily && !field->indirect) field->simple = (uint8_t)undead_mangled_simple(&field->mangled, &field->size);
    if (field->simple) return;
    field->type = undead_type_of_name(&field->mangled, descriptor, generic ? arguments : 0);
    // In a program that was stripped the words of such a field stay raw.
    if (!field->type) field->type = undead_type_of_noncopyable(&field->mangled);
  }
  field->size = field->indirect ? 8 : type ? (uint32_t)size_of_field(field) : 0;
}

// A field whose type is unknown reaches to the next one, or to the end.
static void guess_sizes(undead_fields *fields, uint32_t end) {
  for (uint32_t i = 0; i < fields->count; i++) {
    undead_field *field = &fields->field[i];
    if (field->type || field->indirect || field->simple) continue;
    uint32_t next = end;
    for (uint32_t k = 0; k < fields->count; k++)
      if (fields->field[k].offset > field->offset && fields->field[k].offset < next) next = fields->field[k].offset;
    if (next > field->offset) field->size = next - field->offset;
  }
}

// Where a class keeps its field offsets and generic arguments, in bytes from the address point.
static bool class_members(uintptr_t isa, uintptr_t descriptor, uintptr_t *vector, uintptr_t *arguments) {
  uint32_t offset = read_u32(descriptor + ABI_CLASS_DESCRIPTOR_FIELD_VECTOR);
  intptr_t immediate;
  *vector = *arguments = 0;
  if (read_u32(descriptor) & ABI_CONTEXT_RESILIENT_SUPERCLASS) {
    uintptr_t bounds = read_relative(descriptor + ABI_CLASS_DESCRIPTOR_BOUNDS);
    immediate = (intptr_t)read_word(bounds);
    if (!bounds || immediate <= 0) return false;
    *vector = isa + (uintptr_t)immediate + offset * 8ul;
  } else {
    immediate = ((intptr_t)read_u32(descriptor + ABI_CLASS_DESCRIPTOR_POSITIVE)
                 - (intptr_t)read_u32(descriptor + ABI_CLASS_DESCRIPTOR_MEMBERS)) * 8;
    *vector = isa + offset * 8ul;
  }
  *arguments = isa + (uintptr_t)immediate;
  return offset != 0 && *arguments > isa && (uint32_t)(*vector - isa) <= read_u32(isa + ABI_CLASS_SIZE);
}

uintptr_t undead_class_arguments(uintptr_t isa) {
  uintptr_t descriptor = read_word(isa + ABI_CLASS_DESCRIPTOR), vector, arguments = 0;
  if (!(read_u32(descriptor) & ABI_CONTEXT_GENERIC)) return 0;
  class_members(isa, descriptor, &vector, &arguments);
  return arguments;
}

// @Observable stores the property `parent` in `_parent`, which nobody wrote.
static void name_as_observed(undead_fields *fields) {
  bool observed = false;
  for (uint32_t i = 0; i < fields->count && !observed; i++) observed = !strcmp(fields->field[i].name, "_$observationRegistrar");
  for (uint32_t i = 0; i < fields->count && observed; i++) {
    const char *name = fields->field[i].name;
    if (name[0] == '_' && name[1] && name[1] != '$') fields->field[i].name = name + 1;
  }
}

// All but their offsets. NULL without memory.
static undead_fields *read_records(undead_records records, uintptr_t descriptor, uintptr_t arguments, bool lazily) {
  undead_fields *fields = undead_new_fields(records.count);
  for (uint32_t i = 0; fields && i < records.count; i++) {
    uintptr_t record = records.first_record + (uintptr_t)i * ABI_FIELD_RECORD_BYTES;
    read_record(&fields->field[i], record, descriptor, arguments, lazily);
  }
  return fields;
}

static const undead_fields *read_class(uintptr_t isa, uintptr_t descriptor, bool lazily) {
  undead_records records = undead_records_of(descriptor);
  uintptr_t vector, arguments;
  if (!records.count || !class_members(isa, descriptor, &vector, &arguments)) return &no_fields;
  undead_fields *fields = read_records(records, descriptor, arguments, lazily);
  if (!fields) return &no_fields;
  for (uint32_t i = 0; i < records.count; i++) fields->field[i].offset = (uint32_t)read_word(vector + i * 8ul);
  guess_sizes(fields, read_u32(isa + ABI_CLASS_INSTANCE_SIZE));
  name_as_observed(fields);
  return fields;
}

static const undead_fields *read_value(uintptr_t type, uintptr_t descriptor, bool is_struct, bool lazily) {
  undead_records records = undead_records_of(descriptor);
  uint32_t vector = read_u32(descriptor + ABI_STRUCT_DESCRIPTOR_FIELD_VECTOR);
  if (!records.count || (is_struct && !vector)) return &no_fields;
  undead_fields *fields = read_records(records, descriptor, type + ABI_VALUE_GENERIC_ARGUMENTS, lazily);
  for (uint32_t i = 0; fields && i < records.count; i++)
    fields->field[i].offset = is_struct ? read_u32(type + vector * 8ul + i * 4ul) : 0;
  size_t size, stride;
  uint32_t flags;
  if (fields && is_struct && undead_type_layout(type, &size, &stride, &flags)) guess_sizes(fields, (uint32_t)size);
  return fields ? fields : &no_fields;
}

// Labels stand in one text, each followed by a space; an element without one has only the space.
static const char *tuple_label(const char *labels, uint32_t index) {
  for (uint32_t i = 0; labels && i < index; i++) labels = *(labels = strchrnul(labels, ' ')) ? labels + 1 : NULL;
  size_t length = labels ? (size_t)(strchrnul(labels, ' ') - labels) : 0;
  size_t size = length ? length + 1 : 12;
  char *label = undead_keep(size);
  if (!label) return "";
  if (length) memcpy(label, labels, length);
  else snprintf(label, size, "%u", index);
  return label;
}

static const undead_fields *read_tuple(uintptr_t type) {
  uintptr_t count = read_word(type + ABI_TUPLE_COUNT);
  if (count > MAX_ELEMENTS || !undead_is_readable(type + ABI_TUPLE_ELEMENTS, count * ABI_TUPLE_ELEMENT_BYTES))
    return &no_fields;
  undead_fields *fields = undead_new_fields((uint32_t)count);
  const char *labels = read_text(read_word(type + ABI_TUPLE_LABELS), MAX_FIELD_NAME);
  for (uint32_t i = 0; fields && i < count; i++) {
    undead_field *field = &fields->field[i];
    uintptr_t element = type + ABI_TUPLE_ELEMENTS + i * (uintptr_t)ABI_TUPLE_ELEMENT_BYTES;
    field->type = read_word(element);
    field->offset = read_u32(element + 8);
    field->size = (uint32_t)size_of_field(field);
    field->name = tuple_label(labels, i);
  }
  return fields ? fields : &no_fields;
}

// A type that was made after the memory map was read has its fields, and a tuple its labels, under the next one.
static bool is_in_map(uintptr_t type, const undead_fields *fields) {
  if (!undead_is_readable(type, ABI_TUPLE_ELEMENTS)) return false;
  if (undead_type_kind(type) != ABI_KIND_TUPLE) return true;
  uintptr_t labels = read_word(type + ABI_TUPLE_LABELS);
  return fields != &no_fields && (!labels || read_text(labels, MAX_FIELD_NAME));
}

static const undead_fields *find_fields(undead_word_map *known, uintptr_t type, bool lazily) {
  uintptr_t found;
  if (!type) return &no_fields;
  if (undead_word_map_get(known, type, &found)) return (const undead_fields *)found;
  const undead_fields *fields = &no_fields;
  uintptr_t descriptor = undead_type_descriptor(type);
  bool described = undead_descriptor_kind(descriptor) != UINT32_MAX;
  switch (undead_type_kind(type)) {
  case ABI_KIND_CLASS: if (described) fields = read_class(type, descriptor, lazily); break;
  case ABI_KIND_STRUCT: if (described) fields = read_value(type, descriptor, true, lazily); break;
  case ABI_KIND_ENUM: case ABI_KIND_OPTIONAL: if (described) fields = read_value(type, descriptor, false, lazily); break;
  case ABI_KIND_TUPLE: fields = read_tuple(type); break;
  default: break;
  }
  if (is_in_map(type, fields)) undead_word_map_set(known, type, (uintptr_t)fields);
  return fields;
}

const undead_fields *undead_fields_of(uintptr_t type) {
  static undead_word_map known;
  return find_fields(&known, type, false);
}

const undead_fields *undead_fields_lazily(uintptr_t type) {
  static undead_word_map known;
  return find_fields(&known, type, true);
}

const undead_field *undead_field_at(const undead_fields *fields, size_t offset) {
  for (uint32_t i = 0; i < fields->count; i++) {
    const undead_field *field = &fields->field[i];
    if (field->offset != UINT32_MAX && field->offset <= offset && offset - field->offset < field->size) return field;
  }
  return NULL;
}
