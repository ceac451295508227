// How values lie in the buffers of opaque existentials. Reads metadata only: it is asked in the stopped world.
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "platform/memory/spread.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/types.h"

enum { CACHE = 64, MOST_CASES = 4096, MOST_NESTING = 4, MOST_ELEMENTS = 24, MOST_EMPTY_CASES = 64 };

// Bit i of each: what the word at 8 * i certainly is.
typedef struct {
  uint32_t numbers, counted;
} word_kinds;

static const word_kinds nothing, one_number = {.numbers = 1}, one_object = {.counted = 1};

static word_kinds kinds_of(uintptr_t type, int depth);

static bool is_one_of(const char *name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(name, names[i])) return true;
  return false;
}

// Of the standard library's types that are one word.
static word_kinds kinds_of_standard(uintptr_t descriptor) {
  static const char *const numbers[] = {"Int", "UInt", "Int64", "UInt64", "Double", "ObjectIdentifier"};
  static const char *const objects[] = {"Array", "ContiguousArray", "Dictionary", "Set"};
  if (strcmp(undead_descriptor_module(descriptor), "Swift")) return nothing;
  const char *name = undead_descriptor_name(descriptor);
  if (is_one_of(name, numbers, sizeof numbers / sizeof *numbers)) return one_number;
  return is_one_of(name, objects, sizeof objects / sizeof *objects) ? one_object : nothing;
}

// Of a field of a value of this type, as far as the field's name gives its type.
static word_kinds kinds_of_field(uintptr_t type, const undead_mangled *name, int depth) {
  const char *text = (const char *)name->address;
  uint32_t size = 0;
  if (!name->length || undead_mangled_ownership(name) != UNDEAD_STRONG) return nothing;
  // The first two generic arguments: AnyHashable keeps a value in a struct of one such field.
  uintptr_t arguments = type + ABI_VALUE_GENERIC_ARGUMENTS;
  if (name->length == 1) return text[0] == 'x' ? kinds_of(read_word(arguments), depth + 1) : nothing;
  if (name->length == 2 && !memcmp(text, "q_", 2)) return kinds_of(read_word(arguments + 8), depth + 1);
  if (name->length == 2 && !memcmp(text, "SO", 2)) return one_number;   // ObjectIdentifier
  if (name->length == 2 && !memcmp(text, "Bo", 2)) return one_object;   // Builtin.NativeObject: that of a Task
  if (name->length == 9 && !memcmp(text, "s5Error_p", 9)) return one_object;
  switch (undead_mangled_simple(name, &size)) {
  case UNDEAD_SIMPLE_OBJECT: return one_object;
  case UNDEAD_SIMPLE_NUMBER: return size == 8 ? one_number : nothing;
  case UNDEAD_SIMPLE_FUNCTION: return (word_kinds){.counted = 2};
  default: return name->length == 5 ? kinds_of_standard(undead_mangled_descriptor(name)) : nothing;
  }
}

static void add_kinds(word_kinds *sum, word_kinds part, uint32_t offset) {
  if (offset % 8 || offset >= ABI_EXISTENTIAL_BUFFER_BYTES) return;
  sum->numbers |= part.numbers << offset / 8;
  sum->counted |= part.counted << offset / 8;
}

static word_kinds kinds_of_struct(uintptr_t type, int depth) {
  uintptr_t descriptor = undead_type_descriptor(type);
  word_kinds sum = kinds_of_standard(descriptor);
  if (sum.numbers || sum.counted) return sum;
  if (!strcmp(undead_descriptor_module(descriptor), "__C")) return nothing;   // C hides references in integers
  undead_records records = undead_records_of(descriptor);
  uint32_t vector = read_u32(descriptor + ABI_STRUCT_DESCRIPTOR_FIELD_VECTOR);
  if (!vector || records.count != read_u32(descriptor + ABI_STRUCT_DESCRIPTOR_FIELD_COUNT)) return nothing;
  for (uint32_t i = 0; i < records.count; i++) {
    uintptr_t record = records.first_record + (uintptr_t)i * ABI_FIELD_RECORD_BYTES;
    undead_mangled name = undead_mangled_at(read_relative(record + ABI_FIELD_RECORD_TYPE));
    add_kinds(&sum, kinds_of_field(type, &name, depth), read_u32(type + vector * 8ul + i * 4ul));
  }
  return sum;
}

static word_kinds kinds_of_tuple(uintptr_t type, int depth) {
  uintptr_t count = read_word(type + ABI_TUPLE_COUNT);
  word_kinds sum = nothing;
  for (uintptr_t i = 0; i < count && i < MOST_ELEMENTS; i++) {
    uintptr_t element = type + ABI_TUPLE_ELEMENTS + i * (uintptr_t)ABI_TUPLE_ELEMENT_BYTES;
    add_kinds(&sum, kinds_of(read_word(element), depth + 1), read_u32(element + 8));
  }
  return sum;
}

// Its code, and its context.
static word_kinds kinds_of_function(uintptr_t type) {
  uintptr_t flags = read_word(type + ABI_FUNCTION_FLAGS);
  bool swift = flags & ABI_FUNCTION_ESCAPING && !(flags & (ABI_FUNCTION_CONVENTION_MASK | ABI_FUNCTION_DIFFERENTIABLE));
  return swift ? (word_kinds){.counted = 2} : nothing;
}

static bool are_one_object(word_kinds kinds) { return kinds.counted == 1 && !kinds.numbers; }

// Of an enum each of whose payloads is one object: numbers of cases lie in bits that no object has, or are no address of any.
static word_kinds kinds_of_enum(uintptr_t type, int depth) {
  uintptr_t descriptor = undead_type_descriptor(type);
  undead_records records = undead_records_of(descriptor);
  uint32_t payloads = read_u32(descriptor + ABI_ENUM_DESCRIPTOR_PAYLOAD_CASES) & ABI_ENUM_PAYLOAD_CASES_MASK, objects = 0;
  uint32_t empty = read_u32(descriptor + ABI_ENUM_DESCRIPTOR_EMPTY_CASES);
  if (!payloads || records.count != payloads + empty || empty > MOST_EMPTY_CASES) return nothing;
  for (uint32_t i = 0; i < payloads; i++) {
    uintptr_t record = records.first_record + (uintptr_t)i * ABI_FIELD_RECORD_BYTES;
    undead_mangled name = undead_mangled_at(read_relative(record + ABI_FIELD_RECORD_TYPE));
    bool indirect = read_u32(record + ABI_FIELD_RECORD_FLAGS) & ABI_FIELD_INDIRECT_CASE;
    objects += indirect || are_one_object(kinds_of_field(type, &name, depth));
  }
  return objects == payloads ? one_object : nothing;
}

// `any Error` is one box.
static word_kinds kinds_of_existential(uintptr_t type) {
  uint32_t special = read_u32(type + ABI_EXISTENTIAL_FLAGS) & ABI_EXISTENTIAL_SPECIAL_MASK;
  return special == ABI_EXISTENTIAL_ERROR ? one_object : nothing;
}

static word_kinds kinds_of(uintptr_t type, int depth) {
  if (depth == MOST_NESTING) return nothing;
  switch (undead_type_kind(type)) {
  case ABI_KIND_CLASS: return one_object;
  case ABI_KIND_STRUCT: return kinds_of_struct(type, depth);
  case ABI_KIND_TUPLE: return kinds_of_tuple(type, depth);
  case ABI_KIND_FUNCTION: return kinds_of_function(type);
  case ABI_KIND_ENUM: case ABI_KIND_OPTIONAL: return kinds_of_enum(type, depth);
  case ABI_KIND_EXISTENTIAL: return kinds_of_existential(type);
  default: return nothing;
  }
}

static undead_buffer_use find_use(uintptr_t type) {
  size_t size, stride;
  uint32_t flags;
  if ((type & 7) || !undead_type_layout(type, &size, &stride, &flags))
    return (undead_buffer_use){.bytes = ABI_EXISTENTIAL_BUFFER_BYTES};
  if (flags & ABI_WITNESS_NON_INLINE) return (undead_buffer_use){.bytes = sizeof(uintptr_t), .counted = 1};
  if (size > ABI_EXISTENTIAL_BUFFER_BYTES) size = ABI_EXISTENTIAL_BUFFER_BYTES;
  word_kinds kinds = kinds_of(type, 0);
  return (undead_buffer_use){(uint8_t)size, (uint8_t)kinds.counted, (uint8_t)kinds.numbers};
}

undead_buffer_use undead_buffer_use_of(uintptr_t type) {
  static struct {
    uintptr_t type;
    uint32_t generation;   // of the memory map: libraries with types may be unloaded
    undead_buffer_use use;
  } known[CACHE];
  // Numbers of cases around the existential that have no value stand in its place.
  if (type < MOST_CASES) return (undead_buffer_use){0};
  uint32_t slot = (uint32_t)(undead_spread(type >> 3) >> 58) % CACHE;
  if (known[slot].type != type || known[slot].generation != undead_maps_generation) {
    known[slot].use = find_use(type);
    known[slot].type = type;
    known[slot].generation = undead_maps_generation;
  }
  return known[slot].use;
}
