// From a value to the name of one word in it: a descent through fields, tuples, enum payloads and existentials, one level a step.
// The path of names is the label, the last type that of the word. Needs only the memory of the value, which may be a copy.
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/names/naming.h"
#include "platform/system/text.h"

enum { MAX_DEPTH = 24, MAX_ENUM_BYTES = 1024 };

// The state of one descent. Payloads of enums are looked at in a copy, from which the tag bits are removed.
typedef struct {
  undead_edge_name *name;
  undead_text *label;
  const undead_edge *edge;
  undead_value value;
  bool silent;                 // within a type of the toolchain: its private fields tell nobody anything
  bool copied;
  bool boxed;
  _Alignas(16) unsigned char copy[MAX_ENUM_BYTES + 64];
} descent;

static void set_type(descent *walk, uintptr_t type) {
  undead_text text = undead_text_in(walk->name->type, sizeof walk->name->type);
  undead_add_type_name(&text, type);
}

static void add_component(descent *walk, const char *name) {
  if (!name[0]) return;
  if (walk->label->length) undead_text_add(walk->label, ".");
  static const char lazy[] = "$__lazy_storage_$_";
  bool is_lazy = undead_starts_with(name, lazy);
  undead_text_add(walk->label, is_lazy ? name + sizeof lazy - 1 : name);
  if (is_lazy) undead_text_add(walk->label, " (lazy)");
}

// Marks the word as one that holds whatever was there before, not a part of the value.
static bool leave_unused(descent *walk) {
  walk->name->flags |= UNDEAD_EDGE_WEAK;
  return false;
}

// Steps into a field; false if the walk ends there.
static bool enter_field(descent *walk, const undead_field *field, bool named) {
  if (named && !walk->silent) {
    add_component(walk, field->name);
    set_type(walk, field->type);
  }
  walk->value.offset -= field->offset;
  if (walk->value.memory) walk->value.memory += field->offset;
  if (field->ownership != UNDEAD_STRONG) {
    walk->name->ownership = field->ownership;
    return false;
  }
  walk->value.type = field->type;
  // A reference does not reach beyond its field.
  if (field->type && walk->value.offset + sizeof(void *) > field->size) return leave_unused(walk);
  return field->type != 0 && !field->indirect;
}

// Mutex<Value>: its lock, then the value in raw storage, with which it ends (Mutex.swift).
static bool enter_mutex(descent *walk) {
  uintptr_t value = read_word(walk->value.type + ABI_VALUE_GENERIC_ARGUMENTS);
  size_t size, stride, whole;
  uint32_t flags;
  if (!undead_type_layout(walk->value.type, &whole, &stride, &flags)) return false;
  if (!undead_type_layout(value, &size, &stride, &flags) || size > whole) return false;
  size_t offset = whole - size;
  if (walk->value.offset < offset || walk->value.offset - offset >= size) return false;
  walk->value.offset -= offset;
  if (walk->value.memory) walk->value.memory += offset;
  walk->value.type = value;
  walk->silent = false;
  return true;
}

static bool is_int(const undead_field *field) {
  return field->type && undead_descriptor_is(undead_type_descriptor(field->type), "Swift", "Int");
}

// Slice<Base>: two indices, then the collection, which begins with the word (Slice.swift). Readers of the label take the words in
// front for the indices.
static bool is_slice_of_word(const descent *walk, const undead_fields *fields) {
  return fields->count == 3 && is_int(&fields->field[0]) && is_int(&fields->field[1])
    && fields->field[2].offset == 2 * sizeof(intptr_t) && walk->value.offset == fields->field[2].offset;
}

static bool enter_struct(descent *walk) {
  uintptr_t descriptor = undead_type_descriptor(walk->value.type);
  const char *name = undead_descriptor_name(descriptor);
  if (undead_descriptor_is_toolchain(descriptor)) {
    if (!strcmp(name, "Unmanaged")) {
      walk->name->ownership = UNDEAD_UNMANAGED;
      return false;
    }
    // Bits that look like a reference, or an address that nobody can release.
    if (!strcmp(name, "Double") || !strcmp(name, "ObjectIdentifier")) return leave_unused(walk);
    walk->silent = true;
    bool is_slice = !strcmp(name, "Slice") && is_slice_of_word(walk, undead_fields_of(walk->value.type));
    if (is_slice) undead_text_add(walk->label, "[...]");
    if (undead_descriptor_is(descriptor, "Synchronization", "Mutex")) return enter_mutex(walk);
    // Mutex<Value> keeps the value in raw storage, which has no field records.
    if (!strcmp(name, "_Cell")) {
      walk->value.type = read_word(walk->value.type + ABI_VALUE_GENERIC_ARGUMENTS);
      walk->silent = false;
      return walk->value.type != 0;
    }
  } else {
    walk->silent = false;
  }
  const undead_field *field = undead_field_at(undead_fields_of(walk->value.type), walk->value.offset);
  return field && enter_field(walk, field, true);
}

static bool enter_tuple(descent *walk) {
  const undead_field *field = undead_field_at(undead_fields_of(walk->value.type), walk->value.offset);
  return field && enter_field(walk, field, true);
}

static bool has_payload(const undead_field *field) { return field->mangled.length != 0; }

// The case whose payload the word belongs to, without looking at the value: only if no other one reaches so far.
static const undead_field *only_case(const undead_fields *cases, size_t offset) {
  const undead_field *found = NULL;
  for (uint32_t i = 0; i < cases->count; i++) {
    const undead_field *field = &cases->field[i];
    if (!has_payload(field) || field->size <= offset) continue;
    if (found) return NULL;
    found = field;
  }
  return found;
}

typedef struct {
  unsigned (*tag)(const void *value, const void *type);
  void (*project)(void *value, const void *type);   // removes the tag bits from the payload
  size_t size;
} enum_witnesses;

// The witnesses of an enum type: compiler-generated layout code that looks at the bits of a value and at nothing else.
static bool witnesses_of(uintptr_t type, enum_witnesses *witnesses) {
  size_t stride;
  uint32_t flags;
  uintptr_t table = read_word(type + ABI_METADATA_VALUE_WITNESSES);
  if (!undead_type_layout(type, &witnesses->size, &stride, &flags) || !(flags & ABI_WITNESS_HAS_ENUM)) return false;
  uintptr_t tag = read_word(table + ABI_WITNESS_GET_ENUM_TAG), project = read_word(table + ABI_WITNESS_PROJECT_ENUM);
  if (!undead_is_executable(tag) || !undead_is_executable(project)) return false;
  witnesses->tag = (unsigned (*)(const void *, const void *))tag;
  witnesses->project = (void (*)(void *, const void *))project;
  return true;
}

// The case that the enum is in, NULL if that is unknown. A payload that shares its bits with the tag is looked at
// in a copy from now on.
static const undead_field *current_case(descent *walk, const undead_fields *cases, bool shares_bits) {
  enum_witnesses witnesses;
  if (!walk->value.memory || !witnesses_of(walk->value.type, &witnesses)) return NULL;
  if (!walk->copied && !undead_is_readable(walk->value.memory, witnesses.size)) return NULL;
  unsigned tag;
  if (shares_bits) {
    if (witnesses.size > MAX_ENUM_BYTES) return NULL;
    memmove(walk->copy, (const void *)walk->value.memory, witnesses.size);
    walk->copied = true;
    walk->value.memory = (uintptr_t)walk->copy;
    tag = witnesses.tag(walk->copy, (const void *)walk->value.type);
    if (tag < cases->count && has_payload(&cases->field[tag]))
      witnesses.project(walk->copy, (const void *)walk->value.type);
  } else {
    tag = witnesses.tag((const void *)walk->value.memory, (const void *)walk->value.type);
  }
  return tag < cases->count ? &cases->field[tag] : NULL;
}

static bool enter_enum(descent *walk) {
  uintptr_t type = walk->value.type;
  const undead_fields *cases = undead_fields_of(type);
  uint32_t payloads = 0;
  for (uint32_t i = 0; i < cases->count; i++) payloads += has_payload(&cases->field[i]);
  const undead_field *field = current_case(walk, cases, payloads > 1);
  if (field && (!has_payload(field) || (field->type && field->size <= walk->value.offset))) return leave_unused(walk);
  if (!field) field = only_case(cases, walk->value.offset);
  if (!field) return false;
  if (!undead_descriptor_is_toolchain(undead_type_descriptor(type))) walk->silent = false;
  if (undead_type_kind(type) != ABI_KIND_OPTIONAL && !walk->silent) {
    add_component(walk, field->name);
    if (field->type) set_type(walk, field->type);
  }
  walk->boxed = field->indirect;
  return enter_field(walk, field, false);
}

static bool enter_existential(descent *walk) {
  bool opaque = undead_type_is_opaque_existential(walk->value.type);
  if (!opaque || walk->value.offset >= ABI_EXISTENTIAL_BUFFER_BYTES || !walk->value.memory) return false;
  uintptr_t place = walk->value.memory + ABI_EXISTENTIAL_TYPE;
  uintptr_t type = walk->copied ? *(const uintptr_t *)place : read_word(place);
  size_t size, stride;
  uint32_t value_flags;
  if (!undead_type_layout(type, &size, &stride, &value_flags)) return false;
  if (!(value_flags & ABI_WITNESS_NON_INLINE) ? walk->value.offset >= size : walk->value.offset > 0)
    return leave_unused(walk);
  walk->boxed = value_flags & ABI_WITNESS_NON_INLINE;
  if (walk->boxed) return false;
  walk->value.type = type;
  walk->silent = false;
  return true;
}

static bool enter_fixed_array(descent *walk) {
  uintptr_t element = read_word(walk->value.type + ABI_FIXED_ARRAY_ELEMENT);
  size_t size, stride;
  uint32_t flags;
  if (!undead_type_layout(element, &size, &stride, &flags) || !stride) return false;
  size_t index = walk->value.offset / stride;
  undead_text_add(walk->label, "[");
  undead_text_number(walk->label, index);
  undead_text_add(walk->label, "]");
  walk->value.offset -= index * stride;
  if (walk->value.memory) walk->value.memory += index * stride;
  walk->value.type = element;
  walk->silent = false;
  set_type(walk, element);
  return true;
}

// The code of a function value. One that is asynchronous has a record for its code: where that lies from there on, and the size of its
// frame (AsyncFunctionPointer, ABI/Executor.h). That of a library of the toolchain is nothing that the programmer knows.
static uintptr_t code_of_function(uintptr_t word) {
  if (undead_is_executable(word)) return word;
  const undead_module *module = word && word % 4 == 0 ? undead_module_of(word) : NULL;
  if (!module || module->toolchain) return 0;
  uintptr_t code = read_relative(word);
  return undead_is_executable(code) && undead_module_of(code) == module ? code : 0;
}

static bool step(descent *walk) {
  switch (undead_type_kind(walk->value.type)) {
  case ABI_KIND_STRUCT: return enter_struct(walk);
  case ABI_KIND_ENUM: case ABI_KIND_OPTIONAL: return enter_enum(walk);
  case ABI_KIND_TUPLE: return enter_tuple(walk);
  case ABI_KIND_EXISTENTIAL: case ABI_KIND_EXTENDED_EXISTENTIAL: return enter_existential(walk);
  case ABI_KIND_FIXED_ARRAY: return enter_fixed_array(walk);
  case ABI_KIND_FUNCTION:
    // A function value is its code and, in the second word, its context.
    if (walk->value.offset == 8 && code_of_function(walk->edge->companion))
      walk->name->function = code_of_function(walk->edge->companion);
    return false;
  default: return false;
  }
}

bool undead_name_in_value(undead_edge_name *name, undead_text *label, undead_value value, const undead_edge *edge) {
  descent walk = {.name = name, .label = label, .edge = edge, .value = value};
  for (int depth = 0; depth < MAX_DEPTH && step(&walk); depth++) {
  }
  return walk.boxed;
}

bool undead_name_in_field(undead_edge_name *name, undead_text *label, const undead_field *field, uintptr_t memory,
                          size_t offset, const undead_edge *edge) {
  descent walk = {.name = name, .label = label, .edge = edge, .value = {0, memory, offset}};
  if (!enter_field(&walk, field, true)) return false;
  for (int depth = 0; depth < MAX_DEPTH && step(&walk); depth++) {
  }
  return walk.boxed;
}
