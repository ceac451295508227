#include "runtime/types.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/layout.h"
#include "runtime/metadata/identifiers.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/runtime.h"

// Above are addresses: of metadata of Objective-C (MetadataValues.h: LastEnumeratedMetadataKind).
enum { LAST_KIND = 0x7FF, MAX_VALUE_SIZE = 1 << 30 };

uint32_t undead_type_kind(uintptr_t type) {
  if (!type || (type & 7) || !undead_is_readable(type - 8, 24)) return UINT32_MAX;
  uintptr_t kind = ABI_KIND_READ(read_word(type));
  return kind <= LAST_KIND ? (uint32_t)kind : UINT32_MAX;
}

uintptr_t undead_type_descriptor(uintptr_t type) {
  switch (undead_type_kind(type)) {
  case ABI_KIND_CLASS: return read_word(type + ABI_CLASS_DESCRIPTOR);
  case ABI_KIND_STRUCT: case ABI_KIND_ENUM: case ABI_KIND_OPTIONAL: return read_word(type + ABI_VALUE_DESCRIPTOR);
  default: return 0;
  }
}

bool undead_type_layout(uintptr_t type, size_t *size, size_t *stride, uint32_t *flags) {
  if (undead_type_kind(type) == UINT32_MAX) return false;
  uintptr_t witnesses = read_word(type + ABI_METADATA_VALUE_WITNESSES);
  if (!witnesses || (witnesses & 7) || !undead_is_readable(witnesses, ABI_WITNESS_BYTES)) return false;
  *size = read_word(witnesses + ABI_WITNESS_SIZE);
  *stride = read_word(witnesses + ABI_WITNESS_STRIDE);
  *flags = read_u32(witnesses + ABI_WITNESS_FLAGS);
  return *size <= MAX_VALUE_SIZE && *stride <= MAX_VALUE_SIZE * 2ull;
}

bool undead_type_is_opaque_existential(uintptr_t type) {
  uint32_t kind = undead_type_kind(type);
  if (kind == ABI_KIND_EXTENDED_EXISTENTIAL) {
    uintptr_t shape = read_word(type + ABI_EXTENDED_EXISTENTIAL_SHAPE);
    return shape && (read_u32(shape) & ABI_SHAPE_KIND_MASK) == ABI_SHAPE_OPAQUE;
  }
  uint32_t flags = kind == ABI_KIND_EXISTENTIAL ? read_u32(type + ABI_EXISTENTIAL_FLAGS) : 0;
  return (flags & ABI_EXISTENTIAL_NOT_CLASS) && !(flags & ABI_EXISTENTIAL_SPECIAL_MASK);
}

// The runtime may have made the type just now, in memory that it got after the map was read.
bool undead_type_is_readable(uintptr_t type) {
  size_t size, stride;
  uint32_t flags;
  if (undead_type_layout(type, &size, &stride, &flags)) return true;
  return type && undead_maps_refresh() && undead_type_layout(type, &size, &stride, &flags);
}

// A name that is one reference to a type without parameters: asked as the runtime would, without taking it apart.
static uintptr_t type_of_reference(const undead_mangled *name) {
  uintptr_t descriptor = name->length == 5 ? undead_mangled_descriptor(name) : 0;
  if (!descriptor || read_u32(descriptor) & ABI_CONTEXT_GENERIC) return 0;
  uintptr_t function = read_relative(descriptor + ABI_DESCRIPTOR_ACCESS);
  return undead_is_executable(function) ? ((uintptr_t (*)(size_t))function)(0) : 0;
}

// "XB" and its like end the type of a block. Without Objective-C the runtime has no value witnesses for it, and crashes where it makes
// an optional or a tuple of one (swift_initEnumMetadataSinglePayload of Swift 6.3).
static bool is_made_of_block(const undead_mangled *name) {
  const char *at = (const char *)name->address, *end = at + name->length;
  while (at < end) {
    size_t reference = undead_reference_bytes((uint8_t)*at);
    const char *next = reference ? at + reference : undead_end_of_identifier(at, end);
    if (!next && end - at > 2 && *at == 'X' && (at[1] == 'B' || at[1] == 'L' || at[1] == 'z')) return true;
    at = next ? next : at + 1;
  }
  return false;
}

uintptr_t undead_type_of_name(const undead_mangled *name, uintptr_t descriptor, uintptr_t arguments) {
  if (!name->length || !undead_runtime.type_by_mangled_name || is_made_of_block(name)) return 0;
  uintptr_t type = type_of_reference(name);
  if (!type)
    type = (uintptr_t)undead_runtime.type_by_mangled_name(
      (const char *)name->address, name->length, (const void *)descriptor, (const void *const *)arguments);
  if (!undead_type_is_readable(type)) return 0;
  bool is_void = undead_type_kind(type) == ABI_KIND_TUPLE && read_word(type + ABI_TUPLE_COUNT) == 0;
  return is_void && *(const uint8_t *)name->address == ABI_SYMBOLIC_ACCESSOR ? 0 : type;
}

bool undead_is_certainly_type(uintptr_t word) {
  uint32_t kind = undead_type_kind(word);
  size_t size, stride;
  uint32_t flags;
  if (kind == UINT32_MAX || !undead_type_layout(word, &size, &stride, &flags)) return false;
  if (kind == ABI_KIND_CLASS) return undead_classify(word, UINT64_MAX) == UNDEAD_KIND_CLASS;
  uintptr_t descriptor = undead_type_descriptor(word);
  if (!descriptor || !undead_module_of(descriptor) || !undead_is_readable(descriptor, 4)) return false;
  uint32_t form = read_u32(descriptor) & ABI_CONTEXT_KIND_MASK;
  return form == (kind == ABI_KIND_STRUCT ? ABI_CONTEXT_STRUCT : ABI_CONTEXT_ENUM);
}
