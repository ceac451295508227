#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "runtime/captures.h"
#include "platform/maps.h"
#include "platform/own_data.h"
#include "platform/read_text.h"
#include "runtime/abi.h"
#include "runtime/memory_reader.h"
#include "runtime/runtime.h"
#include <stdlib.h>

enum { MAX_CAPTURES = 1024, MAX_PARAMETERS = 32, MAX_LEVELS = 8, MAX_BINDINGS = 64, MAX_FIRST_OFFSET = 4096 };

static const undead_fields no_captures;

typedef struct {
  uintptr_t address;   // of the capture descriptor
  uint32_t types, sources, bindings;
  uint32_t first;      // offset of the bindings, then the captures
} capture_descriptor;

static capture_descriptor descriptor_of(uintptr_t isa) {
  capture_descriptor captures = {.address = read_word(isa + ABI_CONTEXT_CAPTURES)};
  if (!captures.address) return captures;
  captures.types = read_u32(captures.address + ABI_CAPTURES_TYPE_COUNT);
  captures.sources = read_u32(captures.address + ABI_CAPTURES_SOURCE_COUNT);
  captures.bindings = read_u32(captures.address + ABI_CAPTURES_BINDING_COUNT);
  captures.first = read_u32(isa + ABI_CONTEXT_FIRST_CAPTURE);
  bool sane = captures.types <= MAX_CAPTURES && captures.sources <= MAX_CAPTURES && captures.bindings <= MAX_CAPTURES
    && captures.first >= ABI_OBJECT_HEADER && captures.first <= MAX_FIRST_OFFSET
    && undead_is_readable(captures.address + ABI_CAPTURES_TYPES, captures.types * 4ul + captures.sources * 8ul);
  return sane ? captures : (capture_descriptor){0};
}

// A captured variable is a pointer to its box.
static bool is_box(const undead_mangled *name) {
  return name->operators[0] == 'X' && name->operators[1] && strchr("bxX", name->operators[1]);
}

static bool is_optional(const undead_mangled *name) {
  return !name->ends_in_reference && name->operators[0] == 'S' && name->operators[1] == 'g';
}

// Attributes of a lowered function type ("Ieg_": I, attributes, _) or of an optional of one ("Ieg_Sg"), NULL if the name is not
// of one.
static const char *lowered_function(const undead_mangled *name) {
  if (name->ends_in_reference || name->length < 3) return NULL;
  const char *start = (const char *)name->address, *text = start + name->length - (is_optional(name) ? 3 : 1);
  if (*text != '_') return NULL;
  while (text > start && ((text[-1] >= 'a' && text[-1] <= 'z') || (text[-1] >= 'A' && text[-1] <= 'Z')) && *text != 'I')
    text--;
  return *text == 'I' ? text + 1 : NULL;
}

// Bytes of a captured value whose type the runtime cannot or need not build; 0 if they are not known.
static size_t fixed_size(const undead_mangled *name) {
  const char *attributes = lowered_function(name);
  // Callee convention, then the representation: blocks and C functions are one word, Swift functions have a context.
  if (attributes) return attributes[strcspn(attributes, "gxyt_")] == 't'
    || strchr("BC", attributes[strcspn(attributes, "gxyt_") + 1]) ? 8 : 16;
  if (is_box(name) || undead_mangled_ownership(name) != UNDEAD_STRONG) return 8;
  if (!name->ends_in_reference && name->operators[1] == 'C') return 8;
  return undead_mangled_is_one_object(name) ? 8 : 0;
}

// A function that lives as long as its context, code and context; or an optional of one.
static undead_simple simple_of_lowered(const undead_mangled *name, uint32_t *size) {
  const char *attributes = lowered_function(name);
  if (!attributes || !memchr(attributes, 'e', strcspn(attributes, "_"))) return UNDEAD_SIMPLE_NOT;
  if (fixed_size(name) != 16) return UNDEAD_SIMPLE_NOT;
  *size = 16;
  return is_optional(name) ? UNDEAD_SIMPLE_FUNCTION_OR_NIL : UNDEAD_SIMPLE_FUNCTION;
}

// TargetGenericEnvironment (GenericContext.h) for parameters that all have a metadata argument.
typedef struct {
  uint32_t levels;                     // GenericEnvironmentFlags: no requirements
  uint16_t data[MAX_LEVELS + MAX_PARAMETERS];   // cumulative counts, then a byte for each parameter
} generic_environment;

typedef struct {
  generic_environment environment;
  const void *arguments[MAX_PARAMETERS];
} substitution;

// Depth and index of a generic parameter: "x" (0, 0), "q_" (0, 1), "q0_" (0, 2), "qd__" (1, 0), "qd0_1_" (2, 3).
static bool parse_parameter(const char *text, uint32_t *depth, uint32_t *index) {
  *depth = *index = 0;
  if (*text == 'x') return true;
  if (*text++ != 'q') return false;
  bool nested = *text == 'd';
  if (nested) {
    text++;
    *depth = *text == '_' ? 1 : (uint32_t)undead_read_number(text, 10, NULL) + 2;
    text = strchr(text, '_');
    if (!text++) return false;
  }
  if (*text != '_' && (*text < '0' || *text > '9')) return false;
  *index = (*text == '_' ? 0 : (uint32_t)undead_read_number(text, 10, NULL) + 1) + !nested;
  return *depth < MAX_LEVELS && *index < MAX_PARAMETERS;
}

// Fills in the generic arguments from the bindings at the head of a context. False if it has none that are needed.
static bool read_substitution(substitution *result, const capture_descriptor *captures, const uintptr_t *bindings) {
  const void *argument[MAX_LEVELS][MAX_PARAMETERS] = {{0}};
  uint32_t counts[MAX_LEVELS] = {0}, levels = 0, total = 0;
  for (uint32_t i = 0; i < captures->sources; i++) {
    uintptr_t pair = captures->address + ABI_CAPTURES_TYPES + captures->types * 4ul + i * 8ul;
    const char *parameter = read_text(read_relative(pair), 32), *source = read_text(read_relative(pair + 4), 32);
    uint32_t depth, index;
    if (!parameter || !source || source[0] != 'B' || !parse_parameter(parameter, &depth, &index)) continue;
    uint64_t binding = undead_read_number(source + 1, 10, NULL);
    if (binding >= captures->bindings || undead_type_kind(bindings[binding]) == UINT32_MAX) continue;
    argument[depth][index] = (const void *)bindings[binding];
    if (depth >= levels) levels = depth + 1;
    if (index >= counts[depth]) counts[depth] = index + 1;
  }
  memset(result, 0, sizeof *result);
  result->environment.levels = levels;
  for (uint32_t depth = 0; depth < levels; depth++) {
    for (uint32_t index = 0; index < counts[depth]; index++, total++) {
      // A hole cannot be told to the runtime.
      if (!argument[depth][index] || total == MAX_PARAMETERS) return false;
      result->arguments[total] = argument[depth][index];
    }
    result->environment.data[depth] = (uint16_t)total;
  }
  memset(&result->environment.data[levels], ABI_GENERIC_PARAMETER_KEY_TYPE, total);
  return total > 0;
}

static bool is_known_parameter(const char *text, const substitution *generic) {
  uint32_t depth, index;
  if (!generic || !parse_parameter(text, &depth, &index) || depth >= generic->environment.levels) return false;
  return index < generic->environment.data[depth] - (depth ? generic->environment.data[depth - 1] : 0u);
}

// The runtime aborts, or makes types of nothing, if it is asked for a name with parameters that it does not know, with
// a member type or a pack of one ("Q"), with an accessor that expects arguments, or for any P<X> of a parameter. An
// identifier that looks like one of these costs the name of a type, nothing else.
static bool can_be_asked(const undead_mangled *name, const substitution *generic) {
  if (lowered_function(name) || is_box(name)) return false;
  const char *text = (const char *)name->address;
  bool has_shape = false, has_parameter = false;
  for (size_t i = 0; i < name->length;) {
    size_t reference = undead_reference_bytes((uint8_t)text[i]);
    if (text[i] == 'Q' || text[i] == ABI_SYMBOLIC_ACCESSOR) return false;
    if ((text[i] == 'x' || text[i] == 'q') && !is_known_parameter(text + i, generic)) return false;
    has_parameter |= text[i] == 'x' || text[i] == 'q';
    has_shape |= text[i] == ABI_SYMBOLIC_EXISTENTIAL_SHAPE || text[i] == ABI_SYMBOLIC_NONUNIQUE_EXISTENTIAL_SHAPE;
    i += reference ? reference : 1;
  }
  return !has_shape || !has_parameter;
}

static uintptr_t type_of_capture(const undead_mangled *name, const substitution *generic) {
  if (!can_be_asked(name, generic)) return 0;
  uintptr_t type = undead_type_of_name(name, 0, 0);
  if (type || !generic || !undead_runtime.type_in_environment) return type;
  type = (uintptr_t)undead_runtime.type_in_environment((const char *)name->address, name->length, &generic->environment,
                                                       generic->arguments);
  size_t size, stride;
  uint32_t flags;
  return undead_type_layout(type, &size, &stride, &flags) ? type : 0;
}

// The compiler lays captures out in order, each aligned for its type (GenHeap.cpp, HeapLayout).
static const undead_fields *read_captures(const capture_descriptor *captures, const substitution *generic, bool lazily) {
  if (!captures->types) return &no_captures;
  undead_fields *fields = undead_new_fields(captures->types);
  size_t next = captures->first + captures->bindings * 8ul;
  bool certain = true;
  for (uint32_t i = 0; fields && i < captures->types; i++) {
    undead_field *field = &fields->field[i];
    size_t size = 8, stride, align = 7;
    uint32_t flags;
    field->mangled = undead_mangled_at(read_relative(captures->address + ABI_CAPTURES_TYPES + i * 4ul));
    field->ownership = (uint8_t)undead_mangled_ownership(&field->mangled);
    field->indirect = is_box(&field->mangled);
    field->name = "";
    uint32_t simple_size = 0;
    if (lazily && !field->indirect) {
      undead_simple simple = undead_mangled_simple(&field->mangled, &simple_size);
      field->simple = (uint8_t)(simple ? simple : simple_of_lowered(&field->mangled, &simple_size));
    }
    if (!field->simple) field->type = type_of_capture(&field->mangled, generic);
    if (field->simple) align = ((size = simple_size) < 8 ? size : 8) - 1;
    else if (field->type && undead_type_layout(field->type, &size, &stride, &flags)) align = flags & ABI_WITNESS_ALIGN_MASK;
    else if (!(size = fixed_size(&field->mangled))) certain = false;
    next = (next + align) & ~align;
    field->offset = certain ? (uint32_t)next : UINT32_MAX;
    field->size = (uint32_t)size;
    next += size;
  }
  return fields ? fields : &no_captures;
}

static const undead_fields *find_captures(undead_word_map *known, uintptr_t isa, bool lazily) {
  uintptr_t found;
  if (undead_word_map_get(known, isa, &found)) return (const undead_fields *)found;
  capture_descriptor captures = descriptor_of(isa);
  const undead_fields *fields = read_captures(&captures, NULL, lazily);
  undead_word_map_set(known, isa, (uintptr_t)fields);
  return fields;
}

const undead_fields *undead_captures_of(uintptr_t isa) {
  static undead_word_map known;
  return find_captures(&known, isa, false);
}

const undead_fields *undead_captures_lazily(uintptr_t isa) {
  static undead_word_map known;
  return find_captures(&known, isa, true);
}

const undead_fields *undead_captures_in(uintptr_t isa, uintptr_t address) {
  static undead_word_map known;
  const undead_fields *fields = undead_captures_of(isa);
  capture_descriptor captures = descriptor_of(isa);
  uintptr_t bindings[MAX_BINDINGS], found;
  size_t bytes = captures.bindings * sizeof bindings[0];
  if (!captures.bindings || captures.bindings > MAX_BINDINGS) return fields;
  if (!undead_copy_memory(address + captures.first, bindings, bytes)) return fields;
  uint64_t key = isa;
  for (uint32_t i = 0; i < captures.bindings; i++) key = (key ^ bindings[i]) * 0x9E3779B97F4A7C15ull;
  if (undead_word_map_get(&known, key | 1, &found)) return (const undead_fields *)found;
  substitution generic;
  if (read_substitution(&generic, &captures, bindings)) fields = read_captures(&captures, &generic, false);
  undead_word_map_set(&known, key | 1, (uintptr_t)fields);
  return fields;
}
#endif
