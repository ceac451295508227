// How values lie in the buffers of opaque existentials. Reads metadata only: it is asked in the stopped world.
#include "platform/maps.h"
#include "runtime/abi.h"
#include "runtime/memory_reader.h"
#include "runtime/types.h"

enum { CACHE = 64, MOST_CASES = 4096, MOST_WRAPPERS = 4 };

// Numbers of eight bytes.
static bool is_number(uintptr_t descriptor) {
  static const char *const names[] = {"Int", "UInt", "Int64", "UInt64", "Double", "ObjectIdentifier"};
  if (strcmp(undead_descriptor_module(descriptor), "Swift")) return false;
  const char *name = undead_descriptor_name(descriptor);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i])) return true;
  return false;
}

static uint32_t numbers_of(uintptr_t type, int depth);

// The words of a field that are numbers, as far as its name tells.
static uint32_t numbers_of_field(uintptr_t type, const undead_mangled *name, int depth) {
  const char *text = (const char *)name->address;
  uint32_t size = 0;
  if (!name->length || undead_mangled_ownership(name) != UNDEAD_STRONG) return 0;
  // The first generic argument: AnyHashable keeps a value in a struct of one such field.
  if (name->length == 1) return text[0] == 'x' ? numbers_of(read_word(type + ABI_VALUE_GENERIC_ARGUMENTS), depth + 1) : 0;
  if (name->length == 2 && !memcmp(text, "SO", 2)) return 1;   // ObjectIdentifier
  if (undead_mangled_simple(name, &size) == UNDEAD_SIMPLE_NUMBER) return size == 8;
  return name->length == 5 && is_number(undead_mangled_descriptor(name));
}

// Bit i: the word at 8 * i of a value of this type is certainly a number.
static uint32_t numbers_of(uintptr_t type, int depth) {
  if (depth == MOST_WRAPPERS || undead_type_kind(type) != ABI_KIND_STRUCT) return 0;
  uintptr_t descriptor = undead_type_descriptor(type);
  if (is_number(descriptor)) return 1;
  undead_records records = undead_records_of(descriptor);
  uint32_t vector = read_u32(descriptor + ABI_STRUCT_DESCRIPTOR_FIELD_VECTOR), numbers = 0;
  if (!vector || records.count != read_u32(descriptor + ABI_STRUCT_DESCRIPTOR_FIELD_COUNT)) return 0;
  for (uint32_t i = 0; i < records.count; i++) {
    uintptr_t record = records.first_record + (uintptr_t)i * ABI_FIELD_RECORD_BYTES;
    uint32_t offset = read_u32(type + vector * 8ul + i * 4ul);
    if (offset % 8 || offset >= ABI_EXISTENTIAL_BUFFER_BYTES) continue;
    undead_mangled name = undead_mangled_at(read_relative(record + ABI_FIELD_RECORD_TYPE));
    numbers |= numbers_of_field(type, &name, depth) << offset / 8;
  }
  return numbers;
}

static undead_buffer_use find_use(uintptr_t type) {
  size_t size, stride;
  uint32_t flags;
  if ((type & 7) || !undead_type_layout(type, &size, &stride, &flags))
    return (undead_buffer_use){.bytes = ABI_EXISTENTIAL_BUFFER_BYTES};
  if (flags & ABI_WITNESS_NON_INLINE) return (undead_buffer_use){.bytes = sizeof(uintptr_t), .counted = true};
  if (size > ABI_EXISTENTIAL_BUFFER_BYTES) size = ABI_EXISTENTIAL_BUFFER_BYTES;
  return (undead_buffer_use){
    .bytes = (uint8_t)size,
    .counted = undead_type_kind(type) == ABI_KIND_CLASS,
    .numbers = (uint8_t)numbers_of(type, 0),
  };
}

undead_buffer_use undead_buffer_use_of(uintptr_t type) {
  static struct {
    uintptr_t type;
    uint32_t generation;   // of the memory map: libraries with types may be unloaded
    undead_buffer_use use;
  } known[CACHE];
  // Numbers of cases around the existential that have no value stand in its place.
  if (type < MOST_CASES) return (undead_buffer_use){0};
  uint32_t slot = (uint32_t)((type >> 3) * 0x9E3779B97F4A7C15ull >> 58) % CACHE;
  if (known[slot].type != type || known[slot].generation != undead_maps_generation) {
    known[slot].use = find_use(type);
    known[slot].type = type;
    known[slot].generation = undead_maps_generation;
  }
  return known[slot].use;
}
