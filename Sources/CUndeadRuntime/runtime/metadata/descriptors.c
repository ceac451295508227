#include "runtime/descriptors.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/runtime.h"
#include "undead_version.h"

enum { MAX_NAME = 8192, MAX_FIELDS = 65536, MAX_PARENTS = 64, MAX_NESTING = 16 };

size_t undead_reference_bytes(uint8_t byte) {
  return byte == 0 || byte >= ' ' ? 0 : 5;
}

undead_mangled undead_mangled_at(uintptr_t address) {
  undead_mangled name = {.address = address};
  size_t available = undead_readable_bytes(address, MAX_NAME);
  const uint8_t *bytes = (const uint8_t *)address;
  for (size_t i = 0; i < available;) {
    if (bytes[i] == 0) {
      name.length = i;
      return name;
    }
    size_t reference = undead_reference_bytes(bytes[i]);
    name.ends_in_reference = reference != 0;
    name.operators[0] = reference ? 0 : name.operators[1];
    name.operators[1] = reference ? 0 : (char)bytes[i];
    i += reference ? reference : 1;
  }
  return name;
}

undead_ownership undead_mangled_ownership(const undead_mangled *name) {
  if (name->operators[0] != 'X') return UNDEAD_STRONG;
  switch (name->operators[1]) {
  case 'w': return UNDEAD_WEAK;
  case 'o': return UNDEAD_UNOWNED;
  case 'u': return UNDEAD_UNMANAGED;
  default: return UNDEAD_STRONG;
  }
}

// The context descriptor that the reference at `address` leads to, 0 for other kinds of reference.
static uintptr_t referenced_context(uintptr_t address) {
  uint8_t kind = *(const uint8_t *)address;
  if (kind == ABI_SYMBOLIC_DIRECT_CONTEXT) return read_relative(address + 1);
  if (kind == ABI_SYMBOLIC_INDIRECT_CONTEXT) return read_word(read_relative(address + 1));
  return 0;
}

uintptr_t undead_mangled_context(const undead_mangled *name) {
  return name->length > 4 ? referenced_context(name->address) : 0;
}

uintptr_t undead_mangled_descriptor(const undead_mangled *name) {
  uintptr_t descriptor = undead_mangled_context(name);
  uint32_t kind = undead_descriptor_kind(descriptor);
  return kind >= ABI_CONTEXT_CLASS && kind <= ABI_CONTEXT_ENUM ? descriptor : 0;
}

static bool is_one_object(const undead_mangled *name, int depth);

// Such a struct is laid out as its field is, whatever its generic arguments.
static bool has_one_object(uintptr_t descriptor, int depth) {
  undead_records records = undead_records_of(descriptor);
  if (records.count != 1 || depth == MAX_NESTING) return false;
  undead_mangled name = undead_mangled_at(read_relative(records.first_record + ABI_FIELD_RECORD_TYPE));
  return undead_mangled_ownership(&name) == UNDEAD_STRONG && is_one_object(&name, depth + 1);
}

static bool is_one_object(const undead_mangled *name, int depth) {
  if (name->length < 2) return false;
  const char *bytes = (const char *)name->address;
  char last = name->ends_in_reference ? 0 : name->operators[1];
  // A tuple, a function type, a metatype or a lowered type may start with a class, too.
  if (last && !strchr("Gg", last)) return false;
  if (bytes[0] == 'S' && strchr("aDh", bytes[1]) && name->length > 3 && bytes[2] == 'y') return true;
  uintptr_t context = referenced_context(name->address);
  uint32_t kind = undead_descriptor_kind(context);
  return kind == ABI_CONTEXT_CLASS || (kind == ABI_CONTEXT_STRUCT && has_one_object(context, depth));
}

bool undead_mangled_is_one_object(const undead_mangled *name) { return is_one_object(name, 0); }

uint32_t undead_descriptor_kind(uintptr_t descriptor) {
  if ((descriptor & 3) || !undead_is_readable(descriptor, 12)) return UINT32_MAX;
  return read_u32(descriptor) & ABI_CONTEXT_KIND_MASK;
}

const char *undead_descriptor_name(uintptr_t descriptor) {
  uint32_t kind = undead_descriptor_kind(descriptor);
  bool named = kind == ABI_CONTEXT_MODULE || kind == ABI_CONTEXT_PROTOCOL
    || (kind >= ABI_CONTEXT_CLASS && kind <= ABI_CONTEXT_ENUM);
  const char *name = named ? read_text(read_relative(descriptor + ABI_DESCRIPTOR_NAME), MAX_NAME) : NULL;
  return name ? name : "";
}

const char *undead_descriptor_module(uintptr_t descriptor) {
  for (int depth = 0; descriptor && depth < MAX_PARENTS; depth++) {
    if (undead_descriptor_kind(descriptor) == ABI_CONTEXT_MODULE) return undead_descriptor_name(descriptor);
    if (!undead_is_readable(descriptor, 8)) break;
    descriptor = read_relative_indirectable(descriptor + ABI_DESCRIPTOR_PARENT);
  }
  return "";
}

bool undead_descriptor_is(uintptr_t descriptor, const char *module, const char *name) {
  return !strcmp(undead_descriptor_name(descriptor), name) && !strcmp(undead_descriptor_module(descriptor), module);
}

bool undead_is_toolchain_module(const char *module) {
  static const char *const modules[] = {
    "Swift", "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking",
    "FoundationXML", "Dispatch", "Glibc", "XCTest", "Testing", "Synchronization", "Observation", "Distributed",
    "RegexBuilder", "Runtime", "Cxx", "CxxStdlib", "SwiftOnoneSupport", "__C",
  };
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
    if (!strcmp(module, modules[i])) return true;
  // "_Concurrency", "_StringProcessing"...: names that the compiler keeps for itself.
  return module[0] == '_' && module[1] >= 'A' && module[1] <= 'Z';
}

bool undead_descriptor_is_toolchain(uintptr_t descriptor) {
  const undead_module *image = undead_module_of(descriptor);
  return (image && image->toolchain) || undead_is_toolchain_module(undead_descriptor_module(descriptor));
}

static bool is_own_module(const char *module) {
  size_t length = strlen(module);
  if (length == 0) return false;
  const char *at = UNDEAD_OWN_MODULES;
  while ((at = strstr(at, module)) && !(at[-1] == ' ' && at[length] == ' ')) at += length;
  return at != NULL;
}

bool undead_descriptor_is_own(uintptr_t descriptor) {
  return is_own_module(undead_descriptor_module(descriptor));
}

undead_records undead_records_of(uintptr_t descriptor) {
  undead_records records = {0};
  uintptr_t fields = read_relative(descriptor + ABI_DESCRIPTOR_FIELDS);
  if (!fields || (fields & 3)) return records;
  uint32_t count = read_u32(fields + ABI_FIELDS_COUNT);
  if (count > MAX_FIELDS) return records;
  if (!undead_is_readable(fields, ABI_FIELDS_RECORDS + (size_t)count * ABI_FIELD_RECORD_BYTES)) return records;
  records.fields = fields;
  records.first_record = fields + ABI_FIELDS_RECORDS;
  records.count = count;
  return records;
}
