// Types that are known by their mangled names (docs/ABI/Mangling.rst of the Swift repository).
#include "runtime/abi.h"
#include "runtime/descriptors.h"
#include "runtime/metadata/memory_reader.h"

static bool has_suffix(const char *text, size_t length, const char *suffix) {
  size_t bytes = strlen(suffix);
  return length > bytes && !memcmp(text + length - bytes, suffix, bytes);
}

static undead_simple number(uint32_t bytes, uint32_t *size) {
  *size = bytes;
  return UNDEAD_SIMPLE_NUMBER;
}

static undead_simple standard_type(const char *text, uint32_t *size) {
  if (text[0] != 'S') return UNDEAD_SIMPLE_NOT;
  switch (text[1]) {
  case 'i': case 'u': case 'd': return number(8, size);
  case 'f': return number(4, size);
  case 'b': return number(1, size);
  case 'S':
    *size = 16;
    return UNDEAD_SIMPLE_TEXT;
  default: return UNDEAD_SIMPLE_NOT;
  }
}

// A class, or one of the collections that are one reference: "Say...G", and a reference to a descriptor alone or with
// generic arguments.
static bool is_object(const undead_mangled *name, size_t length) {
  const char *text = (const char *)name->address;
  if (text[0] == 'S') return strchr("aDh", text[1]) && length > 3 && text[2] == 'y' && text[length - 1] == 'G';
  size_t reference = undead_reference_bytes((uint8_t)text[0]);
  if (reference != 5 || (length != 5 && (text[5] != 'y' || text[length - 1] != 'G'))) return false;
  uintptr_t descriptor = undead_mangled_descriptor(name);
  if (undead_descriptor_kind(descriptor) != ABI_CONTEXT_CLASS) return false;
  // Foreign classes have no metadata of that form, and so no size of it.
  return read_u32(descriptor) & ABI_CONTEXT_RESILIENT_SUPERCLASS || read_u32(descriptor + ABI_CLASS_DESCRIPTOR_POSITIVE);
}

// Functions end with "c", and so do few other types.
static bool is_function(const undead_mangled *name, size_t length) {
  const char *text = (const char *)name->address;
  for (size_t i = 0, bytes; i < length; i += bytes ? bytes : 1) {
    bytes = undead_reference_bytes((uint8_t)text[i]);
    if (!bytes && text[i] == 'Y' && i + 1 < length && text[i + 1] == 'j') return false;   // differentiable
    if (bytes && i + bytes >= length) return false;
  }
  return length > 2 && text[length - 1] == 'c' && !strchr("BXQYS", text[length - 2])
    && !(text[length - 2] == 'c' && text[length - 3] == 'S');
}

undead_simple undead_mangled_simple(const undead_mangled *name, uint32_t *size) {
  const char *text = (const char *)name->address;
  size_t length = name->length;
  if (length < 2 || undead_mangled_ownership(name) != UNDEAD_STRONG) return UNDEAD_SIMPLE_NOT;
  undead_simple standard = length == 2 ? standard_type(text, size) : UNDEAD_SIMPLE_NOT;
  if (standard) return standard;
  bool optional = !name->ends_in_reference && has_suffix(text, length, "Sg");
  if (optional) length -= 2;
  *size = 16;
  if (optional && length == 2 && !memcmp(text, "SS", 2)) return UNDEAD_SIMPLE_TEXT;
  if (is_function(name, length)) return optional ? UNDEAD_SIMPLE_FUNCTION_OR_NIL : UNDEAD_SIMPLE_FUNCTION;
  *size = 8;
  return is_object(name, length) ? UNDEAD_SIMPLE_OBJECT : UNDEAD_SIMPLE_NOT;
}
