// Metadata of classes, read by threads of the program while others run: at the first death of a class, and where a use of a dead
// object is reported. The kernel is asked before each structure is read. What it describes is in use, or the image that it lay in
// was unloaded: then it is not read.
#include "zombies/classes/metadata.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "unwind/code.h"
#include <string.h>

enum {
  MAX_METADATA_BYTES = 1 << 20, MAX_PREFIX_BYTES = 64, MAX_CLASS_DEPTH = 64, MAX_FIELDS = 4096, MAX_METHODS = 1 << 16,
  MAX_TEXT = 1 << 14
};

static uint16_t u16_at(uintptr_t address) { return *(const uint16_t *)address; }

// A text that ends within readable memory; "" for anything else.
static const char *text_at(uintptr_t address) {
  for (uintptr_t page = address; address && page - address < MAX_TEXT; page = (page | (UNDEAD_PAGE - 1)) + 1) {
    if (!undead_page_is_readable(page)) return "";
    if (memchr((const void *)page, 0, UNDEAD_PAGE - page % UNDEAD_PAGE)) return (const char *)address;
  }
  return "";
}

static uintptr_t relative_at(uintptr_t address) {
  int32_t distance = (int32_t)u32_at(address);
  return distance ? address + (uintptr_t)(intptr_t)distance : 0;
}

static uintptr_t relative_indirectable_at(uintptr_t address) {
  int32_t distance = (int32_t)u32_at(address);
  if (!distance) return 0;
  uintptr_t target = address + (uintptr_t)(intptr_t)(distance & ~1);
  if (!(distance & 1)) return target;
  return undead_pages_are_readable(target, sizeof target) ? word_at(target) : 0;
}

static bool is_address(uintptr_t address) { return address >= UNDEAD_PAGE && address >> UNDEAD_ADDRESS_BITS == 0; }

bool undead_metadata_is_class(uintptr_t isa) {
  if (!is_address(isa) || (isa & 7) || !undead_pages_are_readable(isa - MAX_PREFIX_BYTES, MAX_PREFIX_BYTES + ABI_CLASS_HEADER_BYTES))
    return false;
  uint32_t size = u32_at(isa + ABI_CLASS_SIZE), prefix = u32_at(isa + ABI_CLASS_CLASS_ADDRESS_POINT);
  if (word_at(isa) != ABI_KIND_CLASS || size < ABI_CLASS_HEADER_BYTES || size > MAX_METADATA_BYTES) return false;
  if (prefix > MAX_PREFIX_BYTES || prefix >= size || (prefix & 7)) return false;
  if (u32_at(isa + ABI_CLASS_INSTANCE_SIZE) < ABI_OBJECT_HEADER) return false;
  uintptr_t descriptor = word_at(isa + ABI_CLASS_DESCRIPTOR);
  if (!is_address(descriptor) || (descriptor & 3) || !undead_pages_are_readable(descriptor, ABI_CLASS_DESCRIPTOR_BYTES)) return false;
  return (u32_at(descriptor) & ABI_CONTEXT_KIND_MASK) == ABI_CONTEXT_CLASS && undead_pages_are_readable(isa - prefix, size);
}

bool undead_metadata_is_readable(uintptr_t type) {
  return is_address(type) && !(type & 7) && undead_pages_are_readable(type - sizeof type, 2 * sizeof type);
}

bool undead_metadata_is_error(uintptr_t isa) {
  return undead_metadata_is_readable(isa) && word_at(isa) == ABI_KIND_ERROR_OBJECT;
}

bool undead_metadata_is_context(uintptr_t isa) {
  if (!is_address(isa) || (isa & 7)) return false;
  if (!undead_pages_are_readable(isa - MAX_PREFIX_BYTES, MAX_PREFIX_BYTES + ABI_CONTEXT_CAPTURES + 8)) return false;
  // What is known of a box of a generic variable, offset and type of the value, lies within the same bytes.
  return word_at(isa) == ABI_KIND_HEAP_LOCAL_VARIABLE || word_at(isa) == ABI_KIND_HEAP_GENERIC_LOCAL_VARIABLE;
}

// The end of the generic header that begins at `at`, 0 if it has parts that are not known.
static uintptr_t skip_generic_header(uintptr_t at) {
  if (!undead_pages_are_readable(at, ABI_GENERIC_HEADER_BYTES)) return 0;
  uint32_t parameters = u16_at(at + ABI_GENERIC_HEADER_PARAMETERS);
  uint32_t requirements = u16_at(at + ABI_GENERIC_HEADER_REQUIREMENTS), flags = u16_at(at + ABI_GENERIC_HEADER_FLAGS);
  at += ABI_GENERIC_HEADER_BYTES + ((parameters + 3) & ~3u) + requirements * ABI_GENERIC_REQUIREMENT_BYTES;
  if (!undead_pages_are_readable(at, ABI_PACK_HEADER_BYTES)) return 0;
  if (flags & ABI_GENERIC_HAS_PACKS) at += ABI_PACK_HEADER_BYTES + (uintptr_t)u16_at(at) * ABI_PACK_BYTES;
  if (!undead_pages_are_readable(at, ABI_VALUE_HEADER_BYTES)) return 0;
  if (flags & ABI_GENERIC_HAS_VALUES) at += ABI_VALUE_HEADER_BYTES + (uintptr_t)u32_at(at) * ABI_VALUE_BYTES;
  return at;
}

// Bytes between the start of the metadata of a class and its own members, if the superclass is of another module.
static uint32_t resilient_words(uintptr_t descriptor) {
  uintptr_t bounds = relative_at(descriptor + ABI_CLASS_DESCRIPTOR_BOUNDS);
  return undead_pages_are_readable(bounds, sizeof bounds) ? (uint32_t)(word_at(bounds) / sizeof(uintptr_t)) : 0;
}

static uint32_t misread;

uint32_t undead_metadata_misread(void) { return __atomic_load_n(&misread, __ATOMIC_RELAXED); }

// Whether the class itself has what a table of methods says: functions where it names some, and records where it says that. Those that
// nobody calls the linker may have taken out of the class, but not all of them; of initialisers it may.
static bool is_table_of(uintptr_t isa, const undead_vtable *table) {
  uint64_t end = ((uint64_t)table->first + table->count) * 8 + u32_at(isa + ABI_CLASS_CLASS_ADDRESS_POINT);
  uint32_t named = 0, same = 0;
  if (table->first * 8ull < ABI_CLASS_HEADER_BYTES || end > u32_at(isa + ABI_CLASS_SIZE)) return false;
  for (uint32_t i = 0; i < table->count; i++) {
    uintptr_t method = (uintptr_t)table->methods + i * (uintptr_t)ABI_METHOD_BYTES;
    uintptr_t target = relative_at(method + ABI_METHOD_FUNCTION);
    uint32_t flags = u32_at(method);
    undead_code code = target ? undead_code_at(target) : UNDEAD_CODE_UNKNOWN;
    if (code == (flags & ABI_METHOD_IS_DATA ? UNDEAD_CODE : UNDEAD_NO_CODE)) return false;
    bool is_same = target && word_at(isa + (table->first + i) * 8ul) == target;
    named += target && (flags & ABI_METHOD_KIND_MASK) != ABI_METHOD_KIND_INITIALIZER;
    same += is_same;
  }
  return same || !named;
}

// Where a class says that it has methods of its own, and they are not found, the uses of its dead objects are missed.
static undead_vtable find_table(uintptr_t isa) {
  undead_vtable table = {0};
  uintptr_t descriptor = word_at(isa + ABI_CLASS_DESCRIPTOR);
  uint32_t flags = u32_at(descriptor), initialization = flags >> ABI_INITIALIZATION_SHIFT & ABI_INITIALIZATION_MASK;
  uintptr_t at = descriptor + ABI_CLASS_DESCRIPTOR_BYTES;
  if (flags & ABI_CONTEXT_GENERIC && !(at = skip_generic_header(at))) return table;
  if (flags & ABI_CONTEXT_RESILIENT_SUPERCLASS) at += ABI_RESILIENT_SUPERCLASS_BYTES;
  if (initialization == ABI_SINGLETON_INITIALIZATION) at += ABI_SINGLETON_INITIALIZATION_BYTES;
  if (!undead_pages_are_readable(at, ABI_VTABLE_HEADER_BYTES)) return table;
  table.first = u32_at(at + ABI_VTABLE_OFFSET);
  if (flags & ABI_CONTEXT_RESILIENT_SUPERCLASS) table.first += resilient_words(descriptor);
  uint32_t count = u32_at(at + ABI_VTABLE_COUNT);
  if (count > MAX_METHODS || !undead_pages_are_readable(at + ABI_VTABLE_HEADER_BYTES, count * (size_t)ABI_METHOD_BYTES)) return table;
  table.count = count;
  table.methods = (const uint8_t *)(at + ABI_VTABLE_HEADER_BYTES);
  return table;
}

undead_vtable undead_metadata_vtable(uintptr_t isa) {
  if (!undead_metadata_is_class(isa) || !(u32_at(word_at(isa + ABI_CLASS_DESCRIPTOR)) & ABI_CONTEXT_HAS_VTABLE)) return (undead_vtable){0};
  undead_vtable table = find_table(isa);
  if (table.methods && is_table_of(isa, &table)) return table;
  __atomic_fetch_add(&misread, 1, __ATOMIC_RELAXED);
  return (undead_vtable){0};
}

// The stored properties that a class itself declares.
typedef struct {
  uintptr_t records;
  uint32_t count, vector;   // the offset of property k is the word `vector` + k of the metadata
} class_fields;

static class_fields fields_of(uintptr_t isa) {
  uintptr_t descriptor = word_at(isa + ABI_CLASS_DESCRIPTOR);
  uintptr_t fields = relative_at(descriptor + ABI_DESCRIPTOR_FIELDS);
  uint32_t count = u32_at(descriptor + ABI_CLASS_DESCRIPTOR_FIELD_COUNT);
  uint32_t vector = u32_at(descriptor + ABI_CLASS_DESCRIPTOR_FIELD_VECTOR);
  if (u32_at(descriptor) & ABI_CONTEXT_RESILIENT_SUPERCLASS) vector += resilient_words(descriptor);
  if (!vector || count > MAX_FIELDS) return (class_fields){0};
  if (!undead_pages_are_readable(fields, ABI_FIELDS_RECORDS + count * (size_t)ABI_FIELD_RECORD_BYTES)) return (class_fields){0};
  if (u32_at(fields + ABI_FIELDS_COUNT) != count) return (class_fields){0};
  if (((uint64_t)vector + count) * 8 > u32_at(isa + ABI_CLASS_SIZE)) return (class_fields){0};
  return (class_fields){fields + ABI_FIELDS_RECORDS, count, vector};
}

static uint32_t offset_of(uintptr_t isa, const class_fields *fields, uint32_t index) {
  return (uint32_t)word_at(isa + ((uint64_t)fields->vector + index) * 8);
}

static const char *field_of_class(uintptr_t isa, uint32_t offset, uint32_t *best) {
  class_fields fields = fields_of(isa);
  const char *name = NULL;
  for (uint32_t i = 0; i < fields.count; i++) {
    uint32_t start = offset_of(isa, &fields, i);
    // Fields of size 0 have the offset of the next one, which comes later.
    if (start < ABI_OBJECT_HEADER || start > offset || start < *best) continue;
    *best = start;
    name = text_at(relative_at(fields.records + (uintptr_t)i * ABI_FIELD_RECORD_BYTES + ABI_FIELD_RECORD_NAME));
  }
  return name;
}

// Names of types may have zero bytes in the addresses of other types. An unowned one ends with "Xo".
static bool is_name_of_unowned(uintptr_t type) {
  enum { LONGEST = 1024, FIRST_LONG_REFERENCE = 0x18, LAST_REFERENCE = 0x1F };
  for (uintptr_t at = type; at < type + LONGEST && undead_page_is_readable(at); at++) {
    uint8_t byte = *(const uint8_t *)at;
    if (!byte) return at >= type + 2 && !memcmp((const void *)(at - 2), "Xo", 2);
    if (byte <= LAST_REFERENCE) at += byte >= FIRST_LONG_REFERENCE ? 8 : 4;
  }
  return false;
}

bool undead_metadata_is_unowned(uintptr_t isa, uint32_t offset) {
  for (int depth = 0; depth < MAX_CLASS_DEPTH && undead_metadata_is_class(isa); depth++) {
    class_fields fields = fields_of(isa);
    for (uint32_t i = 0; i < fields.count; i++) {
      if (offset_of(isa, &fields, i) != offset) continue;
      if (is_name_of_unowned(relative_at(fields.records + (uintptr_t)i * ABI_FIELD_RECORD_BYTES + ABI_FIELD_RECORD_TYPE))) return true;
    }
    isa = word_at(isa + ABI_CLASS_SUPER);
  }
  return false;
}

const char *undead_metadata_field(uintptr_t isa, uint32_t offset) {
  if (!undead_metadata_is_class(isa) || offset >= u32_at(isa + ABI_CLASS_INSTANCE_SIZE)) return "";
  const char *name = NULL;
  uint32_t best = 0;
  for (int depth = 0; depth < MAX_CLASS_DEPTH && undead_metadata_is_class(isa); depth++) {
    const char *found = field_of_class(isa, offset, &best);
    if (found) name = found;
    isa = word_at(isa + ABI_CLASS_SUPER);
  }
  return name ? name : "";
}

static bool is_class_of_library(uintptr_t isa, const char *class) {
  const char *module, *name;
  undead_metadata_names(isa, &module, &name);
  return !strcmp(module, "Swift") && !strcmp(name, class);
}

bool undead_metadata_byte(uintptr_t isa, uint32_t offset, uint64_t *byte) {
  if (offset < ABI_STRING_CODE_UNITS || !is_class_of_library(isa, "__StringStorage")) return false;
  *byte = offset - ABI_STRING_CODE_UNITS;
  return true;
}

bool undead_metadata_element(uintptr_t isa, uint32_t offset, uint64_t *element) {
  if (!is_class_of_library(isa, "_ContiguousArrayStorage")) return false;
  uintptr_t descriptor = word_at(isa + ABI_CLASS_DESCRIPTOR);
  uint64_t argument = (uint64_t)u32_at(descriptor + ABI_CLASS_DESCRIPTOR_POSITIVE) - u32_at(descriptor + ABI_CLASS_DESCRIPTOR_MEMBERS);
  if ((argument + 1) * 8 > u32_at(isa + ABI_CLASS_SIZE)) return false;
  uintptr_t type = word_at(isa + argument * 8);
  if (!is_address(type) || !undead_pages_are_readable(type - 8, 8)) return false;
  uintptr_t witnesses = word_at(type - 8);
  if (!is_address(witnesses) || !undead_pages_are_readable(witnesses, ABI_WITNESS_BYTES)) return false;
  uint64_t stride = word_at(witnesses + ABI_WITNESS_STRIDE), mask = u32_at(witnesses + ABI_WITNESS_FLAGS) & ABI_WITNESS_ALIGN_MASK;
  uint64_t first = (ABI_ARRAY_ELEMENTS + mask) & ~mask;
  if (!stride || offset < first) return false;
  *element = (offset - first) / stride;
  return true;
}

void undead_metadata_names(uintptr_t isa, const char **module, const char **name) {
  *module = *name = "";
  if (!undead_metadata_is_class(isa)) return;
  uintptr_t context = word_at(isa + ABI_CLASS_DESCRIPTOR);
  *name = text_at(relative_at(context + ABI_DESCRIPTOR_NAME));
  for (int depth = 0; depth < MAX_CLASS_DEPTH && undead_pages_are_readable(context, ABI_DESCRIPTOR_NAME + 4); depth++) {
    if ((u32_at(context) & ABI_CONTEXT_KIND_MASK) == ABI_CONTEXT_MODULE) {
      *module = text_at(relative_at(context + ABI_DESCRIPTOR_NAME));
      return;
    }
    context = relative_indirectable_at(context + ABI_DESCRIPTOR_PARENT);
  }
}
